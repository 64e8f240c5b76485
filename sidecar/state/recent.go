package state

import "container/list"

// recent is a map of bounded size: what was used least recently makes room. It is not safe
// for concurrent use.
type recent[V any] struct {
	limit  int
	busy   func(*V) bool // of what never makes room; nil: everything does
	at     map[string]*list.Element
	oldest *list.List // of entry[V], the one used last at the end
}

type entry[V any] struct {
	key   string
	value V
}

func newRecent[V any](limit int, busy func(*V) bool) *recent[V] {
	return &recent[V]{limit: limit, busy: busy, at: make(map[string]*list.Element), oldest: list.New()}
}

// get finds a value; nil: there is none.
func (r *recent[V]) get(key string) *V {
	if e := r.at[key]; e != nil {
		return &e.Value.(*entry[V]).value
	}
	return nil
}

// use finds a value, or makes an empty one, and is a use of it.
func (r *recent[V]) use(key string) (value *V, made bool) {
	e := r.at[key]
	if made = e == nil; made {
		r.makeRoom()
		e = r.oldest.PushBack(&entry[V]{key: key})
		r.at[key] = e
	}
	r.oldest.MoveToBack(e)
	return &e.Value.(*entry[V]).value, made
}

func (r *recent[V]) makeRoom() {
	for e := r.oldest.Front(); e != nil && len(r.at) >= r.limit; {
		old := e.Value.(*entry[V])
		e = e.Next()
		if r.busy == nil || !r.busy(&old.value) {
			r.drop(old.key)
		}
	}
}

func (r *recent[V]) drop(key string) {
	if e := r.at[key]; e != nil {
		r.oldest.Remove(e)
		delete(r.at, key)
	}
}
