package state

import (
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

// Ports knows which ports of this machine were open when a session's first command left.
// Whatever listens later at another one was started since, or nothing is there. It is safe
// for concurrent use.
type Ports struct {
	mu     sync.Mutex
	before *recent.Map[map[int]bool] // by session
}

// NewPorts knows of no session yet, and of at most some at once.
func NewPorts(sessions int) *Ports {
	return &Ports{before: recent.New[map[int]bool](sessions, nil)}
}

// Begin notes what is open as a command of a session is about to leave. Only the first one
// counts. Nil means unknown.
func (p *Ports) Begin(session string, open func() map[int]bool) {
	if session == "" {
		return
	}
	p.mu.Lock()
	before, first := p.before.Use(session)
	p.mu.Unlock()
	if !first {
		return
	}
	found := open()
	p.mu.Lock()
	*before = found
	p.mu.Unlock()
}

// Opened reports whether what listens at a port, now or when the command runs, can only have
// been started since the session's first command left. Open says which ports are open now,
// and whether an agent can have opened them.
func (p *Ports) Opened(session string, port int, open func() map[int]bool) bool {
	p.mu.Lock()
	var before map[int]bool
	if known := p.before.Get(session); known != nil {
		before = *known
	}
	p.mu.Unlock()
	if _, was := before[port]; before == nil || was {
		return false
	}
	mine, is := open()[port]
	return mine || !is
}
