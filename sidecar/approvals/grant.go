package approvals

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/policy"
)

// Span is for how long, and in which sessions, a person allows calls.
type Span string

// The spans. Each is for one agent.
const (
	Once    Span = ""
	Task    Span = "task" // what the user asked for last, in one session
	Session Span = "session"
	Hour    Span = "hour" // in all sessions
)

// Spans returns the spans of a grant.
func Spans() []Span { return []Span{Task, Session, Hour} }

// Words returns the span for a sentence, after "for".
func (p Span) Words() string {
	switch p {
	case Task:
		return "this task"
	case Session:
		return "this session"
	case Hour:
		return "an hour"
	}
	return "once"
}

// maxGrant is the longest time of a grant for a session or a task.
const maxGrant = 12 * time.Hour

// ErrWide means that a call can be allowed only once.
var ErrWide = errors.New("this call can only be allowed once")

// May returns why a question cannot be answered for a span, or nil.
func (e *Entry) May(p Span) error {
	switch {
	case p != Task && p != Session && p != Hour:
		return fmt.Errorf("%w: %q is none of task, session and hour", ErrWide, p)
	case len(e.Reason.All) == 0:
		return fmt.Errorf("%w: it has too many reasons to be asked about", ErrWide)
	case e.Call.Session == "" && p != Hour:
		return fmt.Errorf("%w, or for an hour: it names no session", ErrWide)
	}
	return nil
}

// Grant lets the call pass, and other calls of the same agent that have no further reasons. The error
// is ErrWide, or one of Allow.
func (s *Store) Grant(id, by string, p Span) (out Entry, err error) {
	var wide error
	out, err = s.answer(id, func(e *Entry, now time.Time) bool {
		if wide = e.May(p); e.State != Pending || wide != nil {
			return false
		}
		e.By, e.For, e.Until = by, p, now.Add(maxGrant)
		if p == Hour {
			e.Until = now.Add(time.Hour)
		}
		return s.setState(e, Granted)
	})
	var late *AnsweredError
	if errors.As(err, &late) && late.Entry.State == Pending {
		return Entry{}, wide
	}
	return out, err
}

// End ends a grant. Errors are those of Allow.
func (s *Store) End(id, by string) (Entry, error) {
	return s.answer(id, func(e *Entry, now time.Time) bool {
		if e.State != Granted {
			return false
		}
		e.By = by
		s.end(e, Expired, "ended by "+by, now)
		return true
	})
}

// Covering returns the grant that lets a call with these reasons pass. A grant for a task is for the
// first task that uses it.
func (s *Store) Covering(c *Call, reasons []policy.Reason, task string) (out Entry, ok bool) {
	err := s.update(func(time.Time) {
		out, ok = Entry{}, false
		for _, e := range s.entries {
			if e.State != Granted || !e.isFor(c, task) || !policy.Covered(reasons, e.Reason.All) {
				continue
			}
			if e.For == Task && e.Task == "" {
				e.Task = task
				_ = s.writeGrants(e) // without the file it is as new after a restart
			}
			s.countLater("covered")
			out, ok = *e, true
			return
		}
	})
	return out, ok && err == nil
}

// isFor reports whether a grant is for the sender of a call, in its task.
func (e *Entry) isFor(c *Call, task string) bool {
	return e.Call.Agent == c.Agent && e.Call.Client == c.Client && e.Call.Cwd == c.Cwd &&
		(e.For == Hour || e.Call.Session == c.Session) &&
		(e.For != Task || task != "" && (e.Task == "" || e.Task == task))
}

// readGrants returns the grants of the file; none if it cannot be read.
func (s *Store) readGrants() (list []*Entry) {
	text, err := os.ReadFile(s.file)
	if s.file == "" || err != nil || json.Unmarshal(text, &list) != nil {
		return nil
	}
	return slices.DeleteFunc(list, func(e *Entry) bool { return e == nil || e.State != Granted })
}

// writeGrants writes the grants to the file if one has changed, without what they were asked about:
// that may hold secrets.
func (s *Store) writeGrants(changed *Entry) error {
	if s.file == "" || changed.For == Once {
		return nil
	}
	list := []Entry{}
	for _, e := range s.entries {
		if e.State == Granted {
			kept := *e
			kept.Call = Call{Tool: e.Call.Tool, Cwd: e.Call.Cwd, Session: e.Call.Session, Agent: e.Call.Agent,
				Client: e.Call.Client, Model: e.Call.Model, Policy: e.Call.Policy}
			list = append(list, kept)
		}
	}
	text, err := json.Marshal(list)
	if err == nil {
		err = atomicfile.Write(s.file, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("the grants cannot be kept for a restart: %w", err)
	}
	return nil
}
