package upstream

import (
	"maps"
	"slices"
	"strings"
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

// Learnt says what was seen of the server and its models so far, a sentence each.
func (c *Client) Learnt() (out []string) {
	if c.EatsHeaders() {
		out = append(out, "the header of the first thought is missing in its replies")
	}
	a := c.abilities
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, model := range slices.Sorted(maps.Keys(a.noTools)) {
		if a.now().Sub(a.noTools[model]) < seenFor {
			out = append(out, model+" refuses tools")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(a.schemas)) {
		model, _, _ := strings.Cut(key, "\x00")
		if said := a.schemas[key].message(); said != "" {
			out = append(out, model+" "+said)
		}
	}
	return out
}

// message is what came of a trial; empty while it goes on.
func (t *trial) message() string {
	select {
	case <-t.done:
	default:
		return ""
	}
	switch why := ": " + t.detail; {
	case t.obeys:
		return "follows a JSON Schema"
	case t.doubt:
		return "could not be tried with a JSON Schema" + why
	case t.detail != "":
		return "does not follow a JSON Schema" + why
	}
	return "does not follow a JSON Schema"
}
