package state

import (
	"strings"
	"sync"
	"time"
)

const (
	maxAsks   = 1024
	maxAgents = 256
	// soonest is how fast a person can be asked and answer. What comes back sooner has
	// run without.
	soonest = time.Second
)

// Asks finds out whether gateways really ask a person about the calls that say so. One
// that is not set up for it runs them at once, and nothing else shows that. It is safe
// for concurrent use.
type Asks struct {
	mu   sync.Mutex
	left *recent[asked]  // by call id
	deaf map[string]bool // agents
}

type asked struct {
	agent string
	at    time.Time
}

// NewAsks knows of no call yet.
func NewAsks() *Asks {
	return &Asks{left: newRecent[asked](maxAsks, nil), deaf: make(map[string]bool)}
}

// Left notes that a call of an agent has left for a gateway that shall ask.
func (a *Asks) Left(id, agent string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	call, _ := a.left.use(id)
	*call = asked{agent, now}
}

// Result looks at the result of a call, and says whether it shows that nobody was asked.
// It says so once for an agent.
func (a *Asks) Result(id, text string, now time.Time) (agent string, ran bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	call := a.left.get(id)
	if call == nil {
		return "", false
	}
	a.left.drop(id)
	if now.Sub(call.at) >= soonest || refusal(text) || a.deaf[call.agent] {
		return "", false
	}
	if len(a.deaf) < maxAgents {
		a.deaf[call.agent] = true
	} else {
		a.deaf[""] = true // all of them
	}
	return call.agent, true
}

// refusal reports whether a result says that the call waits or was denied.
func refusal(text string) bool {
	text = strings.ToLower(text[:min(len(text), 1<<10)])
	return strings.Contains(text, "exec denied") || strings.Contains(text, "approval")
}

// Heard reports whether the gateway may be trusted to ask for an agent.
func (a *Asks) Heard(agent string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.deaf[agent] && (len(a.deaf) < maxAgents || !a.deaf[""])
}
