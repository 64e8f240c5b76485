// Package recent is a map of bounded size: what was used least recently makes room.
package recent

import (
	"container/list"
	"iter"
)

// Map is such a map. It is not safe for concurrent use.
type Map[V any] struct {
	limit  int
	busy   func(*V) bool // of what never makes room; nil: everything does
	at     map[string]*list.Element
	oldest *list.List // of entry[V], the one used last at the end
}

type entry[V any] struct {
	key   string
	value V
}

// New is an empty map of at most limit values; those that are busy never make room.
func New[V any](limit int, busy func(*V) bool) *Map[V] {
	return &Map[V]{limit: limit, busy: busy, at: make(map[string]*list.Element), oldest: list.New()}
}

// Get finds a value; nil: there is none.
func (r *Map[V]) Get(key string) *V {
	if e := r.at[key]; e != nil {
		return &e.Value.(*entry[V]).value
	}
	return nil
}

// GetBytes is Get that copies no key.
func (r *Map[V]) GetBytes(key []byte) *V {
	if e := r.at[string(key)]; e != nil {
		return &e.Value.(*entry[V]).value
	}
	return nil
}

// Use finds a value, or makes an empty one, and is a use of it.
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

// Drop forgets a value.
func (r *Map[V]) Drop(key string) {
	if e := r.at[key]; e != nil {
		r.oldest.Remove(e)
		delete(r.at, key)
	}
}

// Len is how many values there are.
func (r *Map[V]) Len() int { return len(r.at) }

// All yields the values with their keys, what was used least recently first.
func (r *Map[V]) All() iter.Seq2[string, *V] {
	return func(yield func(string, *V) bool) {
		for e := r.oldest.Front(); e != nil; e = e.Next() {
			if en := e.Value.(*entry[V]); !yield(en.key, &en.value) {
				return
			}
		}
	}
}
