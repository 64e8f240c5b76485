package state

import (
	"context"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

// Kind is what a text says of a call.
type Kind string

// The kinds of texts.
const (
	Thought Kind = "thought" // the chain of thought that led to the call
	Note    Kind = "note"    // what the model is told with its result
	Awaited Kind = "awaited" // what its result shall show; the replica that it left from knows it anyway
)

// Text is one text about a call.
type Text struct {
	Kind Kind
	Key  string // of the call
	Text string
}

// Elsewhere keeps the texts of calls for other replicas, and for after a restart.
type Elsewhere interface {
	// Keep does not wait.
	Keep(Text)
	// Find gives what is known of calls within a bounded time.
	Find(ctx context.Context, keys []string) []Text
}

const (
	// maxLookups is of how many calls it is remembered that they need not be looked for.
	maxLookups = 1 << 15
	// looks is how often a call is looked for elsewhere: what another replica writes may come
	// a moment after the call itself.
	looks = 2
)

// Recall is what is remembered of calls that have left. It is safe for concurrent use.
type Recall struct {
	texts map[Kind]*Texts
	far   Elsewhere // nil: there is none

	mu      sync.Mutex
	lookups *recent.Map[int] // how often a call was looked for; one that left here never is
}

// NewRecall keeps at most limit texts of a kind in memory; 0 keeps none, neither here nor elsewhere.
func NewRecall(limit int, far Elsewhere) *Recall {
	if limit == 0 {
		far = nil
	}
	return &Recall{texts: map[Kind]*Texts{Thought: newTexts(limit), Note: newTexts(limit),
		Awaited: newTexts(limit)}, far: far, lookups: recent.New[int](maxLookups, nil)}
}

// Get finds a text about a call.
func (r *Recall) Get(kind Kind, key string) (string, bool) { return r.texts[kind].Get(key) }

// Take finds a text about a call, and forgets it here.
func (r *Recall) Take(kind Kind, key string) (string, bool) { return r.texts[kind].take(key) }

// Put remembers a text about a call, if there is one. The call itself is known from now on.
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
	*n = looks
	r.mu.Unlock()
	if text != "" {
		r.far.Keep(Text{kind, key, clip(text)})
	}
}

// Fetch brings what is known elsewhere of calls that were not seen here. keys is only asked where
// there is an elsewhere.
func (r *Recall) Fetch(ctx context.Context, keys func() []string) {
	if r.far == nil {
		return
	}
	if unmet := r.unmet(keys()); len(unmet) > 0 {
		for _, t := range r.far.Find(ctx, unmet) {
			if texts := r.texts[t.Kind]; texts != nil {
				texts.Put(t.Key, t.Text)
			}
		}
	}
}

func (r *Recall) unmet(keys []string) (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := make(map[string]bool, len(keys))
	for _, key := range keys {
		if key == "" || asked[key] {
			continue
		}
		asked[key] = true
		if n, _ := r.lookups.Use(key); *n < looks {
			*n++
			out = append(out, key)
		}
	}
	return out
}
