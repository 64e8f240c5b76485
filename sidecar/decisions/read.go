package decisions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// Read passes the records of a log to take, oldest first, until it returns false. An invalid line
// comes with an error that names its place, and what can be read of it. A last line that is still
// being written is left out.
func Read(dir string, take func(*Record, error) bool) error {
	list, err := segments(dir)
	if err == nil {
		err = readSegments(list, take)
	}
	if err != nil {
		return fmt.Errorf("read decisions: %w", err)
	}
	return nil
}

// readSegments is Read for some segments.
func readSegments(list []segment, take func(*Record, error) bool) error {
	more := true
	for i := 0; i < len(list) && more; i++ {
		s := list[i]
		err := s.lines(func(l line) bool {
			if !l.whole {
				return true
			}
			r, err := l.record()
			if err != nil {
				err = fmt.Errorf("%s:%d: %w", s.path, l.n, err)
			}
			more = take(&r, err)
			return more
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Last returns the place of the last record, to be kept elsewhere: it shows if the log is truncated.
// Zero: there is no record.
func Last(dir string) (at Checkpoint, err error) {
	list, err := segments(dir)
	for i := len(list) - 1; i >= 0 && at.Seq == 0 && err == nil; i-- {
		err = readSegments(list[i:i+1], func(r *Record, broken error) bool {
			if broken == nil {
				at = Checkpoint{r.Seq, r.Hash}
			}
			return true
		})
	}
	if err != nil {
		return at, fmt.Errorf("read decisions: %w", err)
	}
	return at, nil
}

// Back passes the records before one to take, newest first, until it returns false; before 0 begins at
// the end. An invalid line comes with an error that names its place. A last line that is still being
// written is left out, as are records outside of times, which take may narrow. Records out of order do
// not end the search: clocks may be set back.
func Back(dir string, before uint64, times *Times, take func(*Record, error) bool) error {
	list, err := segments(dir)
	if err != nil {
		return fmt.Errorf("read decisions: %w", err)
	}
	more, behind := true, before > 0 // behind: not yet at the record before which to begin
	for _, s := range slices.Backward(list) {
		if !more {
			break
		}
		if behind && s.first >= before || times.excludes(s) {
			continue
		}
		err := s.back(func(l line) bool {
			if seq, ok := seqOf(l.text); behind && (!ok || seq >= before) {
				behind = seq != before
				return true
			}
			behind = false
			if at, ok := timeOf(l.text); ok && !times.contains(at) {
				return true
			}
			r, err := l.record()
			if err != nil {
				err = fmt.Errorf("%s, byte %d: %w", s.path, l.at, err)
			}
			more = take(&r, err)
			return more
		})
		if err != nil {
			return fmt.Errorf("read decisions: %w", err)
		}
	}
	return nil
}

// chunkSize is how many bytes are read at once.
const chunkSize = 256 << 10

// back passes the complete lines of a segment to take, last first. The text is valid until the next
// one.
func (s segment) back(take func(line) bool) error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	// known: of the line that begins before end
	end, known, finished, long := s.bytes, []byte(nil), false, false
	give := func(at int64, text []byte) bool {
		return take(line{at: at, text: text, whole: true, long: long || len(text) > maxLine})
	}
	for end > 0 {
		from := max(0, end-chunkSize)
		text := make([]byte, end-from, int(end-from)+len(known))
		if _, err := f.ReadAt(text, from); err != nil {
			return fmt.Errorf("%s: %w", s.path, err)
		}
		text = append(text, known...)
		for i := bytes.LastIndexByte(text, '\n'); i >= 0; i = bytes.LastIndexByte(text, '\n') {
			if finished && !give(from+int64(i)+1, text[i+1:]) {
				return nil
			}
			text, finished, long = text[:i], true, false
		}
		if len(text) > maxLine {
			text, long = nil, true
		}
		end, known = from, text
	}
	if finished {
		give(0, known)
	}
	return nil
}

// seqOf returns the number of a line without parsing the rest.
func seqOf(text []byte) (uint64, bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"seq":`))
	if !ok {
		return 0, false
	}
	digits, _, _ := bytes.Cut(rest[:min(len(rest), 21)], []byte(","))
	seq, err := strconv.ParseUint(string(digits), 10, 64)
	return seq, err == nil
}

// timeOf returns the time of a line without parsing the rest.
func timeOf(text []byte) (time.Time, bool) {
	_, rest, _ := bytes.Cut(text[:min(len(text), 80)], []byte(`,"time":"`))
	stamp, _, _ := bytes.Cut(rest, []byte(`"`))
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	return at, err == nil
}

// ErrUnknown means that a log has no such record.
var ErrUnknown = errors.New("the log has no such record")

// Found is a record with its checks.
type Found struct {
	Record
	Broken error  // what is wrong with its line; the record has what could be read
	Place  string // what is wrong with its place after the record before it; may be empty
	First  bool   // the log has no record before it
}

// Find returns a record. The error is ErrUnknown, or one of reading.
func Find(dir string, seq uint64) (*Found, error) {
	var found *Found
	err := Back(dir, seq+1, &Times{}, func(r *Record, broken error) bool {
		if found == nil {
			if r.Seq == seq {
				found = &Found{Record: *r, Broken: broken, First: true}
			}
			return found != nil || r.Seq > seq || broken != nil
		}
		found.First = false
		if broken == nil || r.Seq == seq-1 {
			f := chainChecker{nextSeq: r.Seq + 1, prev: r.Hash, open: broken != nil && r.Hash == Sum{}}
			found.Place = f.place(&found.Record)
		}
		return false
	})
	if err == nil && found == nil {
		err = ErrUnknown
	}
	return found, err
}

// maxAnswerLines is how many lines after a decision are searched for an answer.
const maxAnswerLines = 200_000

// AnswerTo returns the last answer to the approval that a decision waits for: a yes can be taken back.
// Nil: there is none, it is too far after the decision, or ctx had ended.
func AnswerTo(ctx context.Context, dir string, decision *Record) (*Record, error) {
	if decision.Decision == nil || decision.Decision.Approval == "" {
		return nil, nil
	}
	list, err := segments(dir)
	if err != nil {
		return nil, fmt.Errorf("read decisions: %w", err)
	}
	id, remaining := decision.Decision.Approval, maxAnswerLines
	mark := []byte(`"answer":{"id":` + strconv.Quote(id))
	var found *Record
	for i := 0; i < len(list) && remaining > 0 && ctx.Err() == nil; i++ {
		if i+1 < len(list) && list[i+1].first <= decision.Seq {
			continue
		}
		err := list[i].lines(func(l line) bool {
			if remaining--; l.whole && bytes.Contains(l.text, mark) {
				if r, err := l.record(); err == nil && r.Answer != nil && r.Answer.ID == id {
					found = &r
				}
			}
			return remaining > 0 && (remaining%1024 != 0 || ctx.Err() == nil)
		})
		if err != nil {
			return nil, fmt.Errorf("read decisions: %w", err)
		}
	}
	return found, nil
}

// Filter selects decisions about calls and connections. Empty fields match everything.
type Filter struct {
	Since   time.Time
	Until   time.Time // exclusive
	Effect  string
	Rule    string // that decided, or a dry run that holds; "default": no rule decided
	Tool    string
	Session string
	Agent   string
	Words   []string // all of them, in any case
	ID      string   // of the call, request, approval or command
}

// Takes reports whether a record is a decision that the filter selects.
func (f *Filter) Takes(r *Record) bool {
	d := r.Decision
	if c := r.Connection; c != nil {
		d = &Decision{Effect: c.Effect, Rule: c.Rule, Findings: c.Findings, Tool: c.Tool, Session: c.Session,
			Agent: c.Agent}
	}
	return d != nil && !r.Time.Before(f.Since) && (f.Until.IsZero() || r.Time.Before(f.Until)) &&
		(f.Effect == "" || string(d.Effect) == f.Effect) &&
		(f.Rule == "" || d.RuleName() == f.Rule ||
			slices.ContainsFunc(d.Findings, func(x policy.Finding) bool { return x.Rule == f.Rule })) &&
		(f.Tool == "" || d.Tool == f.Tool) &&
		(f.Session == "" || d.Session == f.Session) &&
		(f.Agent == "" || d.Agent == f.Agent) &&
		(f.ID == "" || r.hasID(f.ID)) &&
		(len(f.Words) == 0 || r.contains(f.Words))
}

// hasID reports whether a record has an id.
func (r *Record) hasID(id string) bool {
	if d := r.Decision; d != nil {
		return d.Call == id || d.Request == id || d.Approval == id
	}
	return r.Connection.Ticket == id
}

// contains reports whether the words are in what people see of a record.
func (r *Record) contains(words []string) bool {
	var b strings.Builder
	add := func(texts ...string) {
		for _, text := range texts {
			b.WriteString(strings.ToLower(text) + "\n")
		}
	}
	if d := r.Decision; d != nil {
		add(d.Call, d.Request, d.Approval, d.Grant, d.Session, d.Agent, d.Channel, d.Model, d.Tool, d.Class,
			d.Strategy, string(d.Arguments), string(d.Effect), string(d.Outcome), d.RuleName(), d.Place,
			d.Why, d.Instead, d.Rules)
	}
	if c := r.Connection; c != nil {
		add(c.Ticket, c.Session, c.Agent, c.Tool, c.Server, c.Address, c.Method, string(c.Effect),
			string(c.Outcome), c.Rule, c.Place, c.Why, c.Rules)
	}
	text := b.String()
	return !slices.ContainsFunc(words,
		func(w string) bool { return !strings.Contains(text, strings.ToLower(w)) })
}

// RuleName returns the rule that decided, or default.
func (d *Decision) RuleName() string {
	if d.Rule == "" {
		return "default"
	}
	return d.Rule
}

// Judgeable reports whether the arguments are what the policy saw, except for secrets.
func (d *Decision) Judgeable() bool {
	return len(d.Arguments) > 0 && d.Arguments[0] == '{'
}

// Newest are the newest decisions that a filter selects, with what a replay must know of them.
type Newest struct {
	Since time.Time // time of the oldest
	Cut   bool      // there may be older ones
	Short bool      // earlier decisions of their sessions are incomplete

	from, to time.Time // decisions outside of from and to are not replayed
	sessions map[string]bool
}

// FindNewest finds at most so many decisions, until ctx ends. It looks at no more than that of the
// earlier ones, which count for the rates of their sessions.
func FindNewest(ctx context.Context, dir string, f Filter, most int) (*Newest, error) {
	n := &Newest{Since: f.Since, sessions: map[string]bool{}}
	times := Times{Until: f.Until}
	if !f.Since.IsZero() {
		times.Since = f.Since.Add(-lookBack)
	}
	taken, ahead, looked, oldest := 0, 0, 0, time.Time{}
	err := Back(dir, 0, &times, func(r *Record, broken error) bool {
		if looked++; looked%1024 == 0 && ctx.Err() != nil {
			if !n.Cut && !r.Time.Before(f.Since) {
				n.Cut, oldest = true, r.Time // all since then are known
			}
			n.Short = true
			return false
		}
		if broken != nil || r.Decision == nil {
			return true
		}
		in := !n.Cut && !r.Time.Before(f.Since)
		switch fits := in && f.Takes(r); {
		case fits && taken < most:
			taken++
			if r.Time.After(n.to) {
				n.to = r.Time
			}
			oldest, n.from, n.sessions[r.Decision.Session] = r.Time, r.Time, true
			ahead, n.Short = 0, false
			return true
		case fits:
			n.Cut, in, times.Since = true, false, oldest.Add(-lookBack)
		}
		if n.sessions[r.Decision.Session] && !r.Time.Before(oldest.Add(-lookBack)) {
			if n.Short = ahead == most; !n.Short {
				n.from = r.Time
				ahead++
			}
		}
		return in || !n.Short
	})
	if n.Cut {
		n.Since = oldest
	}
	return n, err
}

// ReplayNewest replays these decisions until ctx ends. Damage in files of other times is not counted.
func ReplayNewest(ctx context.Context, dir string, f Filter, n *Newest, decide Decider,
	tell func(*Change)) (*Tally, error) {
	if len(n.sessions) == 0 {
		return &Tally{}, nil
	}
	list, err := segments(dir)
	if err != nil {
		return &Tally{}, fmt.Errorf("read decisions: %w", err)
	}
	list = slices.DeleteFunc(list, (&Times{Since: n.from, Until: n.to.Add(1)}).excludes)
	f.Since = n.Since
	return replay(ctx, list, f, func(r *Record) bool {
		return n.sessions[r.Decision.Session] && !r.Time.Before(n.from) && !r.Time.After(n.to)
	}, decide, tell)
}
