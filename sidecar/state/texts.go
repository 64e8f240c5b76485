// Package state keeps what outlives one request: the chain of thought behind each call, which gpt-oss
// gets back even if the caller dropped it, notes for the model about results, recent activity of
// sessions, and the health of servers. Everything is in memory and bounded. It never reads a reply
// itself.
package state

import (
	"context"
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

// Kind is the kind of a text.
type Kind string

const (
	Thought Kind = "thought" // chain of thought that led to the call
	Note    Kind = "note"    // for the model, with the result
	Awaited Kind = "awaited" // what the result must show; the replica that the call left from knows it anyway
)

// Text is one text about a call.
type Text struct {
	Kind Kind
	Key  string // of the call
	Text string
}

// PeerTexts keeps texts of calls for other replicas, and over a restart.
type PeerTexts interface {
	// Keep does not wait.
	Keep(Text)
	// Find returns the known texts of calls within a bounded time.
	Find(ctx context.Context, keys []string) []Text
}

const (
	// maxLookups is how many calls are known to need no further lookup.
	maxLookups = 1 << 15
	// maxLooks is how often a call is looked up elsewhere: another replica may write a text a moment
	// after the call.
	maxLooks = 2
)

// Recall remembers texts about calls that have left. It is safe for concurrent use.
type Recall struct {
	texts map[Kind]*Texts
	far   PeerTexts // may be nil

	mu      sync.Mutex
	lookups *recent.Map[int] // how often a call was looked up; never if it left here
}

// NewRecall keeps at most limit texts of a kind in memory; 0 keeps none, neither here nor elsewhere.
func NewRecall(limit int, far PeerTexts) *Recall {
	if limit == 0 {
		far = nil
	}
	return &Recall{texts: map[Kind]*Texts{Thought: newTexts(limit), Note: newTexts(limit),
		Awaited: newTexts(limit)}, far: far, lookups: recent.New[int](maxLookups, nil)}
}

// Get returns a text about a call.
func (r *Recall) Get(kind Kind, key string) (string, bool) { return r.texts[kind].Get(key) }

// Take returns a text about a call and removes it here.
func (r *Recall) Take(kind Kind, key string) (string, bool) { return r.texts[kind].take(key) }

// Put keeps a text about a call, if it is not empty. The call is known from now on.
func (r *Recall) Put(kind Kind, key, text string) {
	if key == "" {
		return
	}
	if kind != Awaited {
		r.texts[kind].Put(key, text)
	}
	if r.far == nil {
		return
	}
	r.mu.Lock()
	n, _ := r.lookups.Use(key)
	*n = maxLooks
	r.mu.Unlock()
	if text != "" {
		r.far.Keep(Text{kind, key, clip(text)})
	}
}

// Fetch gets the texts that are known elsewhere of calls that were not seen here. It calls keys only
// if there is an elsewhere.
func (r *Recall) Fetch(ctx context.Context, keys func() []string) {
	if r.far == nil {
		return
	}
	if unmet := r.unknownKeys(keys()); len(unmet) > 0 {
		for _, t := range r.far.Find(ctx, unmet) {
			if texts := r.texts[t.Kind]; texts != nil {
				texts.Put(t.Key, t.Text)
			}
		}
	}
}

func (r *Recall) unknownKeys(keys []string) (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := make(map[string]bool, len(keys))
	for _, key := range keys {
		if key == "" || asked[key] {
			continue
		}
		asked[key] = true
		if n, _ := r.lookups.Use(key); *n < maxLooks {
			*n++
			out = append(out, key)
		}
	}
	return out
}
