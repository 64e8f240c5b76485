package witness

import (
	"net/http"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Outcome is what a turn came to, in a word.
type Outcome string

// The outcomes. The first that fits is taken.
const (
	Running  Outcome = "running"
	Failed   Outcome = "failed"   // its answer is an error
	Denied   Outcome = "denied"   // a call was kept back by the policy
	GivenUp  Outcome = "given-up" // a fault stayed: the user reads a sentence, or a part of an answer
	Again    Outcome = "again"    // the model had to be asked again
	Repaired Outcome = "repaired" // a call was mended
	Good     Outcome = "good"
)

// Outcomes are all of them.
func Outcomes() []Outcome { return []Outcome{Running, Failed, Denied, GivenUp, Again, Repaired, Good} }

// Outcome is that of the turn.
func (t *Turn) Outcome() Outcome {
	switch {
	case !t.Done:
		return Running
	case t.Status >= http.StatusBadRequest:
		return Failed
	}
	denied, repaired := false, false
	for i := range t.Replies {
		r := &t.Replies[i].Reading
		denied = denied || r.Denied()
		for _, c := range r.Calls {
			repaired = repaired || Mended(c) > 0
		}
	}
	switch {
	case denied:
		return Denied
	case len(t.Account.Faults) > 0 && t.Account.Faults[len(t.Account.Faults)-1].Action == ruleset.GiveUp:
		return GivenUp
	case t.Account.Again > 0:
		return Again
	case repaired:
		return Repaired
	}
	return Good
}

// Mended is how many repairs a call had. What the policy adds to a call is none.
func Mended(c tools.Call) (n int) {
	for _, r := range c.Repairs {
		if !guard.ByPolicy(r) {
			n++
		}
	}
	return n
}

// Minute is what one minute had.
type Minute struct {
	From                               time.Time
	Turns, Repaired, Again, Bad, Calls int
}

// minutes are the last hour.
type minutes struct{ list [60]Minute }

// at moves on to the minute of a time.
func (m *minutes) at(now time.Time) *Minute {
	const last = 59
	is := now.Truncate(time.Minute)
	switch gap := int(is.Sub(m.list[last].From) / time.Minute); {
	case gap <= 0 && !m.list[last].From.IsZero():
	case gap > last || m.list[last].From.IsZero():
		for i := range m.list {
			m.list[i] = Minute{From: is.Add(time.Duration(i-last) * time.Minute)}
		}
	default:
		copy(m.list[:], m.list[gap:])
		for i := range gap {
			m.list[last-i] = Minute{From: is.Add(-time.Duration(i) * time.Minute)}
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
	case Failed, Denied, GivenUp:
		in.Bad++
	case Again:
		in.Again++
	case Repaired:
		in.Repaired++
	}
}
