package state

import (
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

const (
	maxAsks   = 1024
	maxAskers = 256
	// minAnswerTime is the least time for a person to be asked and to answer. What has run sooner has
	// run without.
	minAnswerTime = time.Second
	// minEvidence is how much evidence proves that no person is asked.
	minEvidence = 2
	// distrustTime is how long a gateway is distrusted. Then one call tests it again.
	distrustTime = 10 * time.Minute
)

// Asks finds out whether gateways ask a person about the calls that require it. A gateway that is not
// set up for it runs them at once, and nothing else shows that. It is safe for concurrent use.
type Asks struct {
	mu     sync.Mutex
	asked  *recent.Map[askedCall] // by call id
	doubts *recent.Map[doubt]     // by asker
}

// askedCall is a call that has left for a gateway that must ask.
type askedCall struct {
	by string
	at time.Time
}

// doubt is the evidence against a gateway, and when it came.
type doubt struct {
	evidence int
	at       time.Time
}

// NewAsks returns Asks without calls.
func NewAsks() *Asks {
	return &Asks{asked: recent.New[askedCall](maxAsks, nil), doubts: recent.New[doubt](maxAskers, nil)}
}

// Add notes that a call has left for a gateway that must ask. A gateway may ask for one agent on one
// channel and not on another: by identifies them.
func (a *Asks) Add(id, by string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	call, _ := a.asked.Use(id)
	*call = askedCall{by, now}
}

// Result examines the result of a call for signs that a person was asked. It reports whether this
// completes the proof that no person is asked. The text is needed of few results.
func (a *Asks) Result(id string, text func() string, evidence *Evidence,
	now time.Time) (by string, proven bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	call := a.asked.Get(id)
	if call == nil {
		return "", false
	}
	by, late := call.by, now.Sub(call.at) >= minAnswerTime
	a.asked.Drop(id)
	switch e := evidence.of(text()); {
	case e < 0:
		a.doubts.Drop(by)
	case e > 0 && !late:
		trusted := a.trusts(by, now)
		d, _ := a.doubts.Use(by)
		*d = doubt{d.evidence + e, now}
		return by, trusted && d.evidence >= minEvidence
	}
	return by, false
}

// Trusts reports whether the gateway is trusted to ask.
func (a *Asks) Trusts(by string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.trusts(by, now)
}

func (a *Asks) trusts(by string, now time.Time) bool {
	d := a.doubts.Get(by)
	return d == nil || d.evidence < minEvidence || now.Sub(d.at) >= distrustTime
}

// Evidence are patterns of results: a person was asked, nothing has run, a program has run.
type Evidence struct{ Asked, NotRun, Ran []*regexp.Regexp }

// of returns what a result that came at once shows: more than 0, no person was asked; less than 0, one
// was.
func (e *Evidence) of(text string) int {
	shows := func(list []*regexp.Regexp) bool {
		return slices.ContainsFunc(list, func(re *regexp.Regexp) bool { return re.MatchString(text) })
	}
	switch {
	case shows(e.Ran): // whatever the program has written
		return minEvidence
	case shows(e.Asked):
		return -1
	case shows(e.NotRun):
		return 0
	}
	return 1
}
