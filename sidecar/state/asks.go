package state

import (
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

const (
	maxAsks   = 1024
	maxAskers = 256
	// soonest is how fast a person can be asked and answer. What has run by then has run
	// without.
	soonest = time.Second
	// proof is how much evidence it takes to believe that nobody is asked.
	proof = 2
	// distrust is how long that is believed. Then one call finds out again.
	distrust = 10 * time.Minute
)

// Asks finds out whether gateways really ask a person about the calls that say so. One
// that is not set up for it runs them at once, and nothing else shows that. It is safe
// for concurrent use.
type Asks struct {
	mu   sync.Mutex
	left *recent.Map[asked] // by call id
	deaf *recent.Map[doubt] // by who asks
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
	return &Asks{left: recent.New[asked](maxAsks, nil), deaf: recent.New[doubt](maxAskers, nil)}
}

// Left notes that a call has left for a gateway that shall ask. A gateway may ask for one
// agent on one channel, and not on another: by tells them apart.
func (a *Asks) Left(id, by string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	call, _ := a.left.Use(id)
	*call = asked{by, now}
}

// Result looks at the result of a call. It says whether this completes the proof that
// nobody is asked.
func (a *Asks) Result(id, text string, now time.Time) (by string, proven bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	call := a.left.Get(id)
	if call == nil {
		return "", false
	}
	by, late := call.by, now.Sub(call.at) >= soonest
	a.left.Drop(id)
	switch e := evidence(text); {
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

// How the results of OpenClaw 2026.9.6 begin or end: of calls that were asked about, that
// failed before anything ran, and that have run. All others are what a program has written,
// or the words of a plugin.
var (
	wasAsked  = lazyregexp.New(`(?i)\bexec denied\b|\bapproval (is )?required\b`)
	hasNotRun = lazyregexp.New(`(?is)^\s*\{.*"status"\s*:\s*"error"|^validation failed for tool |^tool \S+ not found|was not executed`)
	hasRun    = lazyregexp.New(`(?s)^\(no output\)\s*$|\(Command exited with code \d+\)\s*$|^Command still running \(session `)
)

// evidence is what a result that came at once says about its gateway: more than 0, nobody
// was asked; less, it does ask.
func evidence(text string) int {
	switch {
	case hasRun().MatchString(text): // whatever the program has written
		return proof
	case wasAsked().MatchString(text):
		return -1
	case hasNotRun().MatchString(text):
		return 0
	}
	return 1
}
