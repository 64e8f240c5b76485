package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func evalCommand(env cli.Env) *cobra.Command {
	var job Job
	var variants []string
	var profile, policy string
	c := &cobra.Command{
		Use:     "eval [OLD NEW FILE]",
		Aliases: []string{"compare"}, // a name until December 2027
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && (len(args) != 3 || len(job.Corpora)+len(variants) > 0) {
				return errors.New("name OLD, NEW and FILE, or else --corpus and --variant")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			if job.Pair = len(args) > 0; job.Pair {
				variants, job.Corpora = []string{"old=" + args[0], "new=" + args[1]}, args[2:]
			}
			if len(job.Corpora) == 0 || len(variants) == 0 {
				return cli.Misused(c, errors.New("name OLD, NEW and FILE, or at least one --corpus FILE and one --variant NAME=DIR"))
			}
			if err := job.Live.Most.Check(); err != nil {
				return cli.Misused(c, err)
			}
			if job.Variants, err = Specs(variants, profile); err != nil {
				return cli.Misused(c, err)
			}
			folders := []string{policy}
			for _, v := range job.Variants {
				folders = append(folders, v.Dir)
			}
			ctx, stop := cli.UntilStopped(c)
			defer stop()
			job.Live.Key, _ = env.Lookup(config.Prefix + "UPSTREAM_KEY")
			job.Live.Tell, job.Live.Rewrites = env.Err, bool(terminal.ColoursOf(env.Err, env.Lookup))
			err = job.Run(ctx, Room{In: env.In, Out: env.Out, Err: env.Err, World: env.World(folders...),
				Loader: env.Loader(),
				Read: func(dir string) (rulefile.Source, rulefile.Files, error) {
					return cli.ReadRules(dir, policy, env)
				}})
			if errors.Is(err, ErrWorse) {
				return cli.ErrReported
			}
			return err
		},
	}
	f := c.Flags()
	f.StringArrayVar(&job.Corpora, "corpus", nil,
		"`FILE` of replies, a JSON object a line; - is standard input; may be given several times")
	f.StringArrayVar(&variants, "variant", nil, "`NAME=DIR` of rules; may be given several times")
	f.StringVar(&profile, "profile", "", "`PROFILE` of strategies.yaml, for variants that name none")
	f.BoolVar(&job.Strict, "strict", false, "exit with 1 if variants differ")
	const files = " strict corpus variant profile baseline save html junit json policy"
	cli.Modes(c, "live: times temperature max-requests max-total-tokens max-cost price-in price-out whole parallel answers timeout"+files, ":"+files)
	f.StringVar(&job.Baseline, "baseline", "", "`FILE` that --save wrote: what was right there must be right")
	f.StringVar(&job.Files.JSON, "save", "", "write the report as JSON to `FILE`, for --baseline")
	f.StringVar(&job.Files.HTML, "html", "", "write a page to look at to `FILE`")
	f.StringVar(&job.Files.JUnit, "junit", "", "write JUnit XML to `FILE`")
	f.StringVar(&job.Live.URL, "live", "", "ask the model server at `URL` anew")
	f.IntVar(&job.Live.Times, "times", 3,
		"with --live: the `NUMBER` of times that a case is asked, at each temperature")
	f.Float64SliceVar(&job.Live.Temperatures, "temperature", nil,
		"with --live: the `TEMPERATURES` to ask at (without it: the one of the rules)")
	most := &job.Live.Most
	f.IntVar(&most.Requests, "max-requests", 0, "with --live: stop behind this `NUMBER` of requests")
	f.IntVar(&most.Tokens, "max-total-tokens", 0,
		"with --live: stop when this `NUMBER` of tokens is spent, of prompts and answers")
	f.Float64Var(&most.Cost, "max-cost", 0,
		"with --live: stop when this `AMOUNT` is spent, by --price-in and --price-out")
	f.Float64Var(&most.In, "price-in", 0, "with --live: the `PRICE` of a million tokens of prompts")
	f.Float64Var(&most.Out, "price-out", 0, "with --live: the `PRICE` of a million tokens of answers")
	f.BoolVar(&job.Live.Whole, "whole", false, "with --live: ask for whole answers, in place of streams")
	f.IntVar(&job.Live.Parallel, "parallel", 4, "with --live: the `NUMBER` of requests at once")
	f.StringVar(&job.Live.Answers, "answers", "",
		"with --live: keep what was answered in `FILE`, and do not ask for it again")
	f.DurationVar(&job.Live.Wait, "timeout", 2*time.Minute, "with --live: the `TIME` for one answer")
	cli.JSONFlag(c, &job.JSON, `{"variants": […], "pairs": […], "rows": […]}`)
	cli.PolicyFlag(c, env, &policy)
	return c
}

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
