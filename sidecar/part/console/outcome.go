package console

import (
	"net/http"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// Outcome is what a turn came to, in a word.
type Outcome string

// The outcomes. The first that fits is taken.
const (
	running  Outcome = "running"
	Failed   Outcome = "failed"   // its answer is an error
	Denied   Outcome = "denied"   // a call was kept back by the policy
	givenUp  Outcome = "given-up" // a fault stayed: the user reads a sentence, or a part of an answer
	Again    Outcome = "again"    // the model had to be asked again
	Repaired Outcome = "repaired" // a call was mended, or read from the text
	Good     Outcome = "good"
)

// Outcomes are all of them.
func Outcomes() []Outcome { return []Outcome{running, Failed, Denied, givenUp, Again, Repaired, Good} }

// Outcome is that of the turn.
func (t *Turn) Outcome() Outcome {
	if !t.Done {
		return running
	}
	denied, repaired := false, false
	for i := range t.Replies {
		r := &t.Replies[i].Reading
		denied = denied || r.Denied()
		for k := range r.Calls {
			repaired = repaired || len(guard.Repairs(&r.Calls[k])) > 0
		}
	}
	return outcomeOf(t.Status, &t.Account, denied, repaired)
}

// outcomeOf is the outcome of a turn that has ended with a status.
func outcomeOf(status int, a *turn.Account, denied, repaired bool) Outcome {
	switch {
	case status >= http.StatusBadRequest:
		return Failed
	case denied:
		return Denied
	case len(a.Faults) > 0 && a.Faults[len(a.Faults)-1].Action == ruleset.GiveUp:
		return givenUp
	case a.Again > 0:
		return Again
	case repaired:
		return Repaired
	}
	return Good
}

// minute is what one minute had.
type minute struct {
	From                               time.Time
	Turns, Repaired, Again, Bad, Calls int
}

// minutes are the last hour.
type minutes struct{ list [60]minute }

// at moves on to the minute of a time.
func (m *minutes) at(now time.Time) *minute {
	const last = 59
	is := now.Truncate(time.Minute)
	switch gap := int(is.Sub(m.list[last].From) / time.Minute); {
	case gap <= 0 && !m.list[last].From.IsZero():
	case gap > last || m.list[last].From.IsZero():
		for i := range m.list {
			m.list[i] = minute{From: is.Add(time.Duration(i-last) * time.Minute)}
		}
	default:
		copy(m.list[:], m.list[gap:])
		for i := range gap {
			m.list[last-i] = minute{From: is.Add(-time.Duration(i) * time.Minute)}
		}
	}
	return &m.list[last]
}

// count counts a turn that has ended.
func (m *minutes) count(now time.Time, t *Turn) {
	in := m.at(now)
	in.Turns++
	in.Calls += t.Account.Calls
	switch t.Outcome() {
	case Failed, Denied, givenUp:
		in.Bad++
	case Again:
		in.Again++
	case Repaired:
		in.Repaired++
	}
}
