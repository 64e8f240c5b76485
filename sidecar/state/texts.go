// Package state keeps what outlives one request: the chain of thought behind each call, which gpt-oss
// gets back even if the caller dropped it, notes for the model about results, recent activity of
// sessions, and the health of servers. Everything is in memory and bounded. It never reads a reply
// itself.
package state

import (
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

// maxText is how many bytes of a text are kept. The end of a chain of thought led to the call, so the
// end is kept.
const maxText = 32 << 10

// Texts keeps texts by call id and drops the oldest. It is safe for concurrent use.
type Texts struct {
	mu   sync.Mutex
	by   *recent.Map[string]
	most int
}

// newTexts keeps at most limit texts; 0 keeps none.
func newTexts(limit int) *Texts {
	return &Texts{by: recent.New[string](limit, nil), most: limit}
}

// Get returns the text of a call.
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

// Put keeps the text of a call.
func (t *Texts) Put(callID, text string) {
	if t.most == 0 || text == "" || callID == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s, _ := t.by.Use(callID)
	*s = clip(text)
}

// clip returns the end of a text, at most maxText bytes.
func clip(text string) string {
	over := max(len(text)-maxText, 0)
	for over > 0 && over < len(text) && text[over]&0xC0 == 0x80 {
		over++ // not in the middle of a character
	}
	return text[over:]
}
