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
	mu    sync.Mutex
	by    map[string]string
	ring  []string // ids in the order they came
	next  int
	limit int
}

// NewThoughts keeps at most limit chains of thought; 0 keeps none.
func NewThoughts(limit int) *Thoughts {
	return &Thoughts{by: make(map[string]string), limit: limit}
}

// Get finds the chain of thought that led to a call.
func (t *Thoughts) Get(callID string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.by[callID]
	return s, ok
}

// Put remembers the chain of thought behind a call.
func (t *Thoughts) Put(callID, thought string) {
	if t.limit == 0 || thought == "" || callID == "" {
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
	if _, known := t.by[callID]; known {
		t.by[callID] = thought
		return
	}
	if len(t.ring) < t.limit {
		t.ring = append(t.ring, callID)
	} else {
		delete(t.by, t.ring[t.next])
		t.ring[t.next] = callID
		t.next = (t.next + 1) % t.limit
	}
	t.by[callID] = thought
}

// Len is how many chains of thought are kept.
func (t *Thoughts) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.by)
}
