package upstream

import (
	"sync"
	"time"
)

// What was seen of a server is tried again after these times: it may have been started anew,
// with other settings.
const (
	seenFor  = 10 * time.Minute
	doubtFor = time.Minute // where it could not be told
)

// abilities is what was seen of the models of an upstream. Safe for concurrent use.
type abilities struct {
	now func() time.Time

	mu      sync.Mutex
	noTools map[string]time.Time // model → when it said that it cannot call tools
	schemas map[string]*trial    // model and dialect → whether it follows a schema
}

// trial is one look at whether a model follows a schema.
type trial struct {
	done   chan struct{} // closed when it has ended
	at     time.Time     // when it ended; read it after done, as all below
	obeys  bool
	doubt  bool // it could not be told
	detail string
}

func newAbilities(now func() time.Time) *abilities {
	return &abilities{now: now, noTools: map[string]time.Time{}, schemas: map[string]*trial{}}
}

// CallsTools reports whether a model was not seen to refuse tools.
func (c *Client) CallsTools(model string) bool {
	a := c.abilities
	a.mu.Lock()
	defer a.mu.Unlock()
	at, seen := a.noTools[model]
	return !seen || a.now().Sub(at) >= seenFor
}

// RefusedTools notes that a model did.
func (c *Client) RefusedTools(model string) {
	a := c.abilities
	a.mu.Lock()
	defer a.mu.Unlock()
	a.noTools[model] = a.now()
}

// stale reports whether an ended trial is too old to go by.
func (a *abilities) stale(t *trial) bool {
	select {
	case <-t.done:
	default:
		return false
	}
	age := a.now().Sub(t.at)
	return t.doubt && age >= doubtFor || !t.doubt && !t.obeys && age >= seenFor
}

// trialOf gives the trial of a key, and whether it begins with this call: then the caller runs
// it, and closes done.
func (a *abilities) trialOf(key string) (t *trial, mine bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t = a.schemas[key]; t != nil && !a.stale(t) {
		return t, false
	}
	t = &trial{done: make(chan struct{})}
	a.schemas[key] = t
	return t, true
}

// fails notes that a schema was of no use.
func (a *abilities) fails(key string) {
	t := &trial{done: make(chan struct{}), at: a.now()}
	close(t.done)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.schemas[key] = t
}
