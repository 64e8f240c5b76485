package upstream

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

// What was seen of a server is tried again after these times: it may have been started anew,
// with other settings.
const (
	seenFor  = 10 * time.Minute
	doubtFor = time.Minute // where it could not be told
)

// maxModels is how many models are remembered: where a server lists none, callers make their names up.
const maxModels = 1024

// abilities is what was seen of the models of an upstream. Safe for concurrent use.
type abilities struct {
	now func() time.Time

	mu      sync.Mutex
	noTools *recent.Map[time.Time] // model → when it said that it cannot call tools
	schemas *recent.Map[*trial]    // model and dialect → whether it follows a schema
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
	return &abilities{now: now, noTools: recent.New[time.Time](maxModels, nil),
		schemas: recent.New[*trial](maxModels, nil)}
}

// CallsTools reports whether a model was not seen to refuse tools.
func (c *Client) CallsTools(model string) bool {
	a := c.abilities
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.noTools.Get(model)
	return at == nil || a.now().Sub(*at) >= seenFor
}

// RefusedTools notes that a model did.
func (c *Client) RefusedTools(model string) {
	a := c.abilities
	a.mu.Lock()
	defer a.mu.Unlock()
	at, _ := a.noTools.Use(model)
	*at = a.now()
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
	kept, made := a.schemas.Use(key)
	if !made && !a.stale(*kept) {
		return *kept, false
	}
	*kept = &trial{done: make(chan struct{})}
	return *kept, true
}

// fails notes that a schema was of no use.
func (a *abilities) fails(key string) {
	t := &trial{done: make(chan struct{}), at: a.now()}
	close(t.done)
	a.mu.Lock()
	defer a.mu.Unlock()
	kept, _ := a.schemas.Use(key)
	*kept = t
}

// Learnt says what was seen of the server and its models so far, a sentence each.
func (c *Client) Learnt() (out []string) {
	if c.EatsHeaders() {
		out = append(out, "the header of the first thought is missing in its replies")
	}
	a := c.abilities
	a.mu.Lock()
	defer a.mu.Unlock()
	var refuse, follow []string
	for model, at := range a.noTools.All() {
		if a.now().Sub(*at) < seenFor {
			refuse = append(refuse, model+" refuses tools")
		}
	}
	for key, t := range a.schemas.All() {
		model, _, _ := strings.Cut(key, "\x00")
		if said := (*t).message(); said != "" {
			follow = append(follow, model+" "+said)
		}
	}
	slices.Sort(refuse)
	slices.Sort(follow)
	return slices.Concat(out, refuse, follow)
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
