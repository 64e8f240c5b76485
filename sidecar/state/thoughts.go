// Package state keeps what outlives one request: the chain of thought behind
// each call, so that gpt-oss gets it back even where the caller dropped it, and how
// much each session did lately. It holds everything in memory, within bounds, and
// never reads a reply itself.
package state

import "sync"

// maxThought is how many bytes of one chain of thought are kept; the end of it
// led to the call, so the end is what stays.
const maxThought = 32 << 10

// Thoughts remembers chains of thought by call id. The oldest one makes room.
// It is safe for concurrent use.
type Thoughts struct {
	mu sync.Mutex
	by *recent[string]
}

// NewThoughts keeps at most limit chains of thought; 0 keeps none.
func NewThoughts(limit int) *Thoughts {
	return &Thoughts{by: newRecent[string](limit, nil)}
}

// Get finds the chain of thought that led to a call.
func (t *Thoughts) Get(callID string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.by.get(callID); s != nil {
		return *s, true
	}
	return "", false
}

// Put remembers the chain of thought behind a call.
func (t *Thoughts) Put(callID, thought string) {
	if t.by.limit == 0 || thought == "" || callID == "" {
		return
	}
	if over := len(thought) - maxThought; over > 0 {
		for over < len(thought) && thought[over]&0xC0 == 0x80 {
			over++ // not in the middle of a character
		}
		thought = thought[over:]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s, _ := t.by.use(callID)
	*s = thought
}
