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

// Past is a run as its journal has it.
type Past struct {
	BeginRecord
	Started, Last time.Time
	Records       []JournalRecord // without the first
	End           *EndRecord      // nil: it is active or was broken off
	Torn          int             // bytes of an incomplete record that a crash left at the end

	size int64 // of the complete records
}

// Summary is a run in one line.
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

// Load reads a run. The error is ErrUnknownRun, or names the line of a damaged record.
func (j *Journal) Load(id string) (*Past, error) {
	if id == "" || strings.ContainsAny(id, `/\`) || strings.HasPrefix(id, ".") {
		return nil, ErrUnknownRun
	}
	doc, err := os.ReadFile(j.path(id))
	if err != nil {
		return nil, unknownRun(err)
	}
	p, err := parsePast(doc)
	if err != nil {
		return nil, fmt.Errorf("%s%w", j.path(id), err)
	}
	return p, nil
}

// parsePast reads the lines of a run. An incomplete record at the end is left out: a crash has cut it.
// Any other damaged record is an error.
func parsePast(doc []byte) (*Past, error) {
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

// Doubt returns the ids of changing calls that began and have no result: they may have taken effect.
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

// Summary returns the run in one line.
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

// Since returns the runs with a record since t, newest first. Damaged files are left out.
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

// List passes all runs to take, newest first, until it returns false. A damaged file comes with its
// error.
func (j *Journal) List(take func(Summary, error) bool) error {
	return j.Walk(0, func(id string, p *Past, err error) bool {
		if err != nil {
			return take(Summary{ID: id}, err)
		}
		return take(p.Summary(), nil)
	})
}

// Walk is List with whole runs, after the first skip of them.
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

var errEnded = errors.New("the run has ended")

// Finished reports whether a run has ended and cannot be resumed. A run that failed, or that its
// caller left, can be.
func (p *Past) Finished() bool {
	return p.End != nil && (p.End.Status == Answered || p.End.Status == Unfinished)
}

// Continue opens a run that was broken off, cuts an incomplete record off its end and notes that it
// goes on. By is the person who wants it; "": the program.
func (j *Journal) Continue(id, rules, by string) (*runJournal, *Past, error) {
	if _, err := j.Load(id); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(j.path(id), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, unknownRun(err)
	}
	r, leave := j.run(id, f), f.Close
	p, err := func() (*Past, error) {
		if err := lockFile(f); err != nil {
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
			r.mustSync(&p.Records[i])
		}
		return p, r.Add(JournalRecord{Resume: &ResumeRecord{Rules: rules, Doubt: p.Doubt(), By: by}})
	}()
	if err != nil {
		return nil, nil, errors.Join(err, leave())
	}
	return r, p, nil
}

// Task returns the last message of the user in the request, secrets masked.
func (b *BeginRecord) Task() string {
	var req struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(b.Request, &req) != nil {
		return ""
	}
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if m := req.Messages[i]; m.Role == "user" {
			return taskText(m.Content)
		}
	}
	return ""
}

// taskText returns the text of a message: a string, or parts of which some have texts.
func taskText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
