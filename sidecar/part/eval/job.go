package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Job describes an evaluation.
type Job struct {
	Corpora  []string // files; - is In
	Variants []Spec
	Baseline string // a saved report; empty: none
	Files    Files
	JSON     bool // on Out instead of a table
	Pair     bool // the first variant is the baseline of the second
	Strict   bool // variants must not differ
	Live     Live // used if it has a URL
}

// Room holds the streams and loaders of a job.
type Room struct {
	In       io.Reader
	Out, Err io.Writer
	Loader   ruleset.Loader
	Read     Read
	World    guard.World
}

// ErrWorse means that something is wrong that was right in the baseline, or that readings differ. It was
// already printed.
var ErrWorse = errors.New("something was right in the baseline, and is wrong now, or differs")

// Run runs the evaluation and prints the results.
func (j *Job) Run(ctx context.Context, in Room) error {
	var variants []Variant
	for _, s := range j.Variants {
		v, err := s.Load(in.Loader, in.Read, in.Err)
		if err != nil {
			return err
		}
		variants = append(variants, v)
	}
	report := NewReport(variants)
	read := func(name string, from io.Reader) (int, error) {
		return report.Read(name, from, variants, in.World, in.Err)
	}
	if j.Live.URL != "" {
		read = j.Live.Read
	}
	broken, err := j.corpora(in, read)
	if err != nil {
		return err
	}
	if err := j.Live.Run(ctx, report, variants, in.World); err != nil {
		return err
	}
	if report.Cases == 0 {
		return errors.New("there is no reply to read")
	}
	return j.tell(in, report, broken)
}

// corpora reads the corpora, and returns the number of unreadable lines.
func (j *Job) corpora(in Room,
	read func(name string, from io.Reader) (broken int, err error)) (broken int, err error) {
	for _, name := range j.Corpora {
		from := io.NopCloser(in.In)
		if name != "-" {
			if from, err = os.Open(name); err != nil {
				return broken, err
			}
		}
		n, err := read(name, from)
		broken += n
		if err = errors.Join(err, from.Close()); err != nil {
			return broken, err
		}
	}
	return broken, nil
}

// tell writes the reports. The error is the verdict.
func (j *Job) tell(in Room, report *Report, broken int) error {
	report.Finish()
	if err := report.Save(j.Files); err != nil {
		return err
	}
	write := report.Write
	if j.JSON {
		write = report.JSON
	}
	writeErr := write(in.Out)
	switch worse, err := report.Against(j.Baseline); {
	case writeErr != nil || err != nil:
		return errors.Join(writeErr, err)
	case broken > 0:
		return fmt.Errorf("%d lines could not be read", broken)
	case len(worse) > 0:
		fmt.Fprintln(in.Err, strings.Join(worse, "\n"))
		return ErrWorse
	case j.Pair && slices.ContainsFunc(report.Rows, func(r Row) bool {
		return r.Labelled && r.Made[0].Right && !r.Made[1].Right
	}), j.Strict && slices.ContainsFunc(report.Rows, func(r Row) bool { return r.Differs }):
		return ErrWorse
	}
	return nil
}
