package recent

import "testing"

func TestShared(t *testing.T) {
	s := NewShared[int](2)
	for i, key := range []string{"a", "b", "a", "c"} {
		if before, ok := s.Swap(key, i+1); ok != (i == 2) || ok && before != 1 {
			t.Errorf("%s had %d, %v", key, before, ok)
		}
	}
	for key, want := range map[string]int{"a": 3, "b": 0, "c": 4} {
		if got, ok := s.Get(key); got != want || ok != (want != 0) {
			t.Errorf("%s has %d, %v", key, got, ok)
		}
	}
}
