package recent

import "sync"

// Shared is a Map that is safe for concurrent use.
type Shared[V any] struct {
	mu sync.Mutex
	of *Map[V]
}

// NewShared returns an empty one of at most limit values.
func NewShared[V any](limit int) *Shared[V] { return &Shared[V]{of: New[V](limit, nil)} }

// Get returns a value.
func (s *Shared[V]) Get(key string) (value V, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.of.Get(key); v != nil {
		return *v, true
	}
	return value, false
}

// Swap stores a value and returns the previous one.
func (s *Shared[V]) Swap(key string, value V) (before V, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, made := s.of.Use(key)
	before, *v = *v, value
	return before, !made
}
