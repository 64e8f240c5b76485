package console

import (
	"net/http"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// Outcome is the result of a turn in one word.
type Outcome string

// Outcomes, in order: the first one that applies counts.
const (
	running  Outcome = "running"
	Failed   Outcome = "failed"   // answered with an error
	Denied   Outcome = "denied"   // the policy denied a call
	givenUp  Outcome = "given-up" // a fault remained: the user reads a sentence or part of an answer
	Again    Outcome = "again"    // the model was asked again
	Repaired Outcome = "repaired" // a call was repaired, or read from the text
	Good     Outcome = "good"
)

// Outcomes returns all outcomes.
func Outcomes() []Outcome { return []Outcome{running, Failed, Denied, givenUp, Again, Repaired, Good} }

// Outcome returns that of the turn.
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

// outcomeOf returns the outcome of a turn that has ended.
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

// minute counts the turns of one minute.
type minute struct {
	From                               time.Time
	Turns, Repaired, Again, Bad, Calls int
}

// minutes counts the last hour.
type minutes struct{ list [60]minute }

// at returns the counts of a minute, and clears those that are too old.
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
