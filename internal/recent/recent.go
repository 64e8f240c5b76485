// Package recent has a map of bounded size that evicts the least recently used value.
package recent

import (
	"container/list"
	"iter"
)

// Map is such a map. It is not safe for concurrent use.
type Map[V any] struct {
	limit  int
	busy   func(*V) bool // values that are never evicted; nil: none
	at     map[string]*list.Element
	oldest *list.List // of entry[V], the last used at the end
}

type entry[V any] struct {
	key   string
	value V
}

// New returns an empty map of at most limit values; busy ones are never evicted.
func New[V any](limit int, busy func(*V) bool) *Map[V] {
	return &Map[V]{limit: limit, busy: busy, at: make(map[string]*list.Element), oldest: list.New()}
}

// Get returns a value, or nil.
func (r *Map[V]) Get(key string) *V {
	if e := r.at[key]; e != nil {
		return &e.Value.(*entry[V]).value
	}
	return nil
}

// GetBytes is Get without copying the key.
func (r *Map[V]) GetBytes(key []byte) *V {
	if e := r.at[string(key)]; e != nil {
		return &e.Value.(*entry[V]).value
	}
	return nil
}

// Use finds or makes a value, and marks it as used.
func (r *Map[V]) Use(key string) (value *V, made bool) {
	e := r.at[key]
	if made = e == nil; made {
		r.makeRoom()
		e = r.oldest.PushBack(&entry[V]{key: key})
		r.at[key] = e
	}
	r.oldest.MoveToBack(e)
	return &e.Value.(*entry[V]).value, made
}

func (r *Map[V]) makeRoom() {
	for e := r.oldest.Front(); e != nil && len(r.at) >= r.limit; {
		old := e.Value.(*entry[V])
		e = e.Next()
		if r.busy == nil || !r.busy(&old.value) {
			r.Drop(old.key)
		}
	}
}

// Drop removes a value.
func (r *Map[V]) Drop(key string) {
	if e := r.at[key]; e != nil {
		r.oldest.Remove(e)
		delete(r.at, key)
	}
}

// Len returns the number of values.
func (r *Map[V]) Len() int { return len(r.at) }

// All yields the keys and values, the least recently used first.
func (r *Map[V]) All() iter.Seq2[string, *V] {
	return func(yield func(string, *V) bool) {
		for e := r.oldest.Front(); e != nil; e = e.Next() {
			if en := e.Value.(*entry[V]); !yield(en.key, &en.value) {
				return
			}
		}
	}
}
