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
	// soonest is how fast a person can be asked and answer. What has run by then has run
	// without.
	soonest = time.Second
	// proof is how much evidence it takes to believe that no person is asked.
	proof = 2
	// distrust is how long that is believed. Then one call finds out again.
	distrust = 10 * time.Minute
)

// Asks finds out whether gateways really ask a person about the calls that say so. One
// that is not set up for it runs them at once, and nothing else shows that. It is safe
// for concurrent use.
type Asks struct {
	mu    sync.Mutex
	asked *recent.Map[asked] // by call id
	deaf  *recent.Map[doubt] // by who asks
}

// asked is a call that has left for a gateway that shall ask.
type asked struct {
	by string
	at time.Time
}

// doubt is the evidence against a gateway, and when it came.
type doubt struct {
	evidence int
	at       time.Time
}

// NewAsks knows of no call yet.
func NewAsks() *Asks {
	return &Asks{asked: recent.New[asked](maxAsks, nil), deaf: recent.New[doubt](maxAskers, nil)}
}

// Add notes that a call has left for a gateway that shall ask. A gateway may ask for one
// agent on one channel, and not on another: by tells them apart.
func (a *Asks) Add(id, by string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	call, _ := a.asked.Use(id)
	*call = asked{by, now}
}

// Result looks at the result of a call, by what shows whether a person was asked. It says whether this
// completes the proof that no person is asked. The text is needed of few results.
func (a *Asks) Result(id string, text func() string, evidence *Evidence,
	now time.Time) (by string, proven bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	call := a.asked.Get(id)
	if call == nil {
		return "", false
	}
	by, late := call.by, now.Sub(call.at) >= soonest
	a.asked.Drop(id)
	switch e := evidence.of(text()); {
	case e < 0:
		a.deaf.Drop(by)
	case e > 0 && !late:
		heard := a.hears(by, now)
		d, _ := a.deaf.Use(by)
		*d = doubt{d.evidence + e, now}
		return by, heard && d.evidence >= proof
	}
	return by, false
}

// Hears reports whether the gateway may be trusted to ask.
func (a *Asks) Hears(by string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.hears(by, now)
}

func (a *Asks) hears(by string, now time.Time) bool {
	d := a.deaf.Get(by)
	return d == nil || d.evidence < proof || now.Sub(d.at) >= distrust
}

// Evidence is by what a result shows whether a person was asked about its call: that one was, that nothing
// has run, that a program has.
type Evidence struct{ Asked, NotRun, Ran []*regexp.Regexp }

// of is what a result that came at once says about who has sent it: more than 0, no person was asked; less,
// one was.
func (e *Evidence) of(text string) int {
	shows := func(list []*regexp.Regexp) bool {
		return slices.ContainsFunc(list, func(re *regexp.Regexp) bool { return re.MatchString(text) })
	}
	switch {
	case shows(e.Ran): // whatever the program has written
		return proof
	case shows(e.Asked):
		return -1
	case shows(e.NotRun):
		return 0
	}
	return 1
}
