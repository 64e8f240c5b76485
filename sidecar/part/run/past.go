package run

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// Past is what a run did so far.
type Past struct {
	BeginRecord
	Started, Last time.Time
	Records       []JournalRecord // without the first
	End           *EndRecord      // nil: it goes on, or was broken off
	Torn          int             // bytes at the end that are no record: a crash left them

	size int64 // of what is good
}

// Summary is a run in a line.
type Summary struct {
	ID      string    `json:"id"`
	Status  string    `json:"status"`
	Turns   int       `json:"turns"`
	Calls   int       `json:"calls"`
	Started time.Time `json:"started"`
	Model   string    `json:"model"`
	Session string    `json:"session,omitempty"`
	Seconds float64   `json:"seconds"`
	Doubt   int       `json:"doubt,omitempty"` // calls that may have taken effect
}

// Load reads a run. The error is ErrUnknown, or names the line that is no record.
func (j *Journal) Load(id string) (*Past, error) {
	if id == "" || strings.ContainsAny(id, `/\`) || strings.HasPrefix(id, ".") {
		return nil, ErrUnknownRun
	}
	doc, err := os.ReadFile(j.path(id))
	if err != nil {
		return nil, missing(err)
	}
	p, err := read(doc)
	if err != nil {
		return nil, fmt.Errorf("%s%w", j.path(id), err)
	}
	return p, nil
}

// read reads the lines of a run. Whatever is not whole at the end is left out: a crash has
// cut it. Anything else that is no record is an error.
func read(doc []byte) (*Past, error) {
	p := &Past{}
	in := bufio.NewReader(bytes.NewReader(doc))
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			p.Torn = len(line)
			break
		}
		var r JournalRecord
		if err := json.Unmarshal(line, &r); err != nil || r.Time.IsZero() {
			if in.Buffered() == 0 && int(p.size)+len(line) == len(doc) && n > 1 {
				p.Torn = len(line)
				break
			}
			return nil, fmt.Errorf(":%d: this is no record of a run", n)
		}
		switch {
		case n == 1 && r.Begin == nil:
			return nil, errors.New(":1: the first record does not say what the run was asked for")
		case n == 1:
			p.BeginRecord, p.Started = *r.Begin, r.Time
		default:
			p.Records = append(p.Records, r)
			p.End = r.End
		}
		p.Last, p.size = r.Time, p.size+int64(len(line))
	}
	if p.size == 0 {
		return nil, errors.New(": it has no record: the run did not begin")
	}
	return p, nil
}

// Doubt are the calls that were about to run, may have changed something, and have no result: they may have
// taken effect.
func (p *Past) Doubt() (ids []string) {
	done := map[string]bool{}
	for _, r := range p.Records {
		if r.Result != nil {
			done[r.Result.ID] = true
		}
	}
	for _, r := range p.Records {
		if r.Call != nil && r.Call.Changes && !done[r.Call.ID] {
			ids = append(ids, r.Call.ID)
			done[r.Call.ID] = true
		}
	}
	return ids
}

// Changed reports whether a call ran that may have changed something.
func (p *Past) Changed() bool {
	return slices.ContainsFunc(p.Records,
		func(r JournalRecord) bool { return r.Call != nil && r.Call.Changes })
}

// Summary is the run in a line.
func (p *Past) Summary() Summary {
	s := Summary{ID: p.ID, Status: running, Started: p.Started, Model: p.Model, Session: p.Session,
		Seconds: p.Last.Sub(p.Started).Seconds(), Doubt: len(p.Doubt())}
	if p.End != nil {
		s.Status = p.End.Status
	}
	for _, r := range p.Records {
		switch {
		case r.Turn != nil:
			s.Turns++
		case r.Call != nil:
			s.Calls++
		case r.Result != nil && r.Result.Doubt:
			s.Doubt++
		}
	}
	return s
}

// Since are the runs that have a record since then, newest first. What cannot be read is left
// out.
func (j *Journal) Since(t time.Time) (out []*Past) {
	ids, err := j.ids()
	if err != nil {
		return nil
	}
	for _, id := range ids {
		if info, err := os.Stat(j.path(id)); err != nil || info.ModTime().Before(t) {
			break
		}
		if p, err := j.Load(id); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// List gives all runs to take, newest first, until that says false. A file that cannot be
// read comes with its error.
func (j *Journal) List(take func(Summary, error) bool) error {
	return j.Walk(0, func(id string, p *Past, err error) bool {
		if err != nil {
			return take(Summary{ID: id}, err)
		}
		return take(p.Summary(), nil)
	})
}

// Walk is List with all that each run did, without the first so many of them.
func (j *Journal) Walk(skip int, take func(id string, p *Past, err error) bool) error {
	ids, err := j.ids()
	if err != nil {
		return err
	}
	for _, id := range ids[min(skip, len(ids)):] {
		p, err := j.Load(id)
		if errors.Is(err, ErrUnknownRun) { // it was swept meanwhile
			continue
		}
		if !take(id, p, err) {
			return nil
		}
	}
	return nil
}

// errEnded is why a run does not go on. One that its caller left, or that failed, may.
var errEnded = errors.New("the run has ended")

// Finished reports whether a run has come to its end, so that it cannot go on. One that its caller left, or
// that failed, has not.
func (p *Past) Finished() bool {
	return p.End != nil && (p.End.Status == Answered || p.End.Status == Unfinished)
}

// Continue opens a run that was broken off, to go on with it. What a crash has cut is taken off its end. By
// is the person who wants that; "": the program does.
func (j *Journal) Continue(id, rules, by string) (*runJournal, *Past, error) {
	if _, err := j.Load(id); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(j.path(id), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, missing(err)
	}
	r, leave := j.run(id, f), f.Close
	p, err := func() (*Past, error) {
		if err := hold(f); err != nil {
			return nil, err // it goes on, maybe in this process
		}
		leave = r.Close
		p, err := j.Load(id) // no other process writes from here on
		switch {
		case err != nil:
			return nil, err
		case p.Finished():
			return nil, fmt.Errorf("%s: %w: %s", id, errEnded, p.End.Status)
		}
		if err := f.Truncate(p.size); err != nil {
			return nil, err
		}
		for i := range p.Records {
			r.matters(&p.Records[i])
		}
		return p, r.Add(JournalRecord{Resume: &ResumeRecord{Rules: rules, Doubt: p.Doubt(), By: by}})
	}()
	if err != nil {
		return nil, nil, errors.Join(err, leave())
	}
	return r, p, nil
}
