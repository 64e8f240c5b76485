// Package state keeps what outlives one request: the chain of thought behind each call, so
// that gpt-oss gets it back even where the caller dropped it, what the model is told with the
// result of a call, how much each session did lately, and whether a
// server is worth a request. It holds everything in memory, within bounds, and
// never reads a reply itself.
package state

import (
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

// maxText is how many bytes of one text are kept. The end of a chain of thought led to
// the call, so the end is what stays.
const maxText = 32 << 10

// Texts remembers a text by call id: a chain of thought, or a note. The oldest one makes
// room. It is safe for concurrent use.
type Texts struct {
	mu   sync.Mutex
	by   *recent.Map[string]
	most int
}

// newTexts keeps at most limit texts; 0 keeps none.
func newTexts(limit int) *Texts {
	return &Texts{by: recent.New[string](limit, nil), most: limit}
}

// Get finds the text of a call.
func (t *Texts) Get(callID string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.by.Get(callID); s != nil {
		return *s, true
	}
	return "", false
}

func (t *Texts) take(callID string) (text string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.by.Get(callID)
	if s == nil {
		return "", false
	}
	text = *s
	t.by.Drop(callID)
	return text, true
}

// Put remembers the text of a call.
func (t *Texts) Put(callID, text string) {
	if t.most == 0 || text == "" || callID == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s, _ := t.by.Use(callID)
	*s = clip(text)
}

// clip is the end of a text, as long as it may be.
func clip(text string) string {
	over := max(len(text)-maxText, 0)
	for over > 0 && over < len(text) && text[over]&0xC0 == 0x80 {
		over++ // not in the middle of a character
	}
	return text[over:]
}
