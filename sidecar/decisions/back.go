package decisions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"
)

// Back gives the records before one to take, newest first, until that says false; before 0
// begins at the end. A line that is no record comes with the error that names its place. The last
// line may be one that is just being written; that is left out, as are records at other times than
// those that matter, which take may narrow. No record ends the search: clocks go back.
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
		if behind && s.first >= before || times.miss(s) {
			continue
		}
		err := s.back(func(l line) bool {
			if seq, ok := seqOf(l.text); behind && (!ok || seq >= before) {
				behind = seq != before
				return true
			}
			behind = false
			if at, ok := timeOf(l.text); ok && !times.holds(at) {
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

// chunk is how much of a file is read at once, from its end.
const chunk = 256 << 10

// back gives the finished lines of a segment to take, last first. The text is good until the next
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
		from := max(0, end-chunk)
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

// seqOf is the number that a line says, without a look at the rest of it.
func seqOf(text []byte) (uint64, bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"seq":`))
	if !ok {
		return 0, false
	}
	digits, _, _ := bytes.Cut(rest[:min(len(rest), 21)], []byte(","))
	seq, err := strconv.ParseUint(string(digits), 10, 64)
	return seq, err == nil
}

// timeOf is the time that a line says, without a look at the rest of it.
func timeOf(text []byte) (time.Time, bool) {
	_, rest, _ := bytes.Cut(text[:min(len(text), 80)], []byte(`,"time":"`))
	said, _, _ := bytes.Cut(rest, []byte(`"`))
	at, err := time.Parse(time.RFC3339Nano, string(said))
	return at, err == nil
}

// ErrUnknown says that a log has no such record.
var ErrUnknown = errors.New("the log has no such record")

// Found is a record in its place.
type Found struct {
	Record
	Broken error  // what is wrong with its line; the record is what can be read of it
	Place  string // what is wrong with its place behind the record before it; "": nothing
	First  bool   // there is no record before it here
}

// Find finds a record. The error is ErrUnknown, or one of reading.
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
			f := follower{next: r.Seq + 1, prev: r.Hash, open: broken != nil && r.Hash == Sum{}}
			found.Place = f.place(&found.Record)
		}
		return false
	})
	if err == nil && found == nil {
		err = ErrUnknown
	}
	return found, err
}

// lookAhead is how many lines behind a decision are searched for the answer of a person.
const lookAhead = 200_000

// AnswerTo is what a person said last of the approval that a decision waits for: a yes can be taken back.
// Nil: no person did, or the answer stands too far behind the decision, or ctx had ended.
func AnswerTo(ctx context.Context, dir string, decision *Record) (*Record, error) {
	if decision.Decision == nil || decision.Decision.Approval == "" {
		return nil, nil
	}
	list, err := segments(dir)
	if err != nil {
		return nil, fmt.Errorf("read decisions: %w", err)
	}
	id, left := decision.Decision.Approval, lookAhead
	mark := []byte(`"answer":{"id":` + strconv.Quote(id))
	var found *Record
	for i := 0; i < len(list) && left > 0 && ctx.Err() == nil; i++ {
		if i+1 < len(list) && list[i+1].first <= decision.Seq {
			continue
		}
		err := list[i].lines(func(l line) bool {
			if left--; l.whole && bytes.Contains(l.text, mark) {
				if r, err := l.record(); err == nil && r.Answer != nil && r.Answer.ID == id {
					found = &r
				}
			}
			return left > 0 && (left%1024 != 0 || ctx.Err() == nil)
		})
		if err != nil {
			return nil, fmt.Errorf("read decisions: %w", err)
		}
	}
	return found, nil
}
