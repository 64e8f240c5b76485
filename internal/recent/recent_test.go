package recent

import (
	"fmt"
	"strings"
	"testing"
)

// A step is a letter: a small one is used, a capital one is dropped.
func TestRecent(t *testing.T) {
	for _, row := range []struct {
		limit             int
		busy, steps, want string // want: the oldest first
	}{
		{3, "", "abc", "abc"},
		{3, "", "abcd", "bcd"},
		{3, "", "abcad", "cad"},
		{3, "", "abcBd", "acd"},
		{3, "", "abXc", "abc"},
		{2, "a", "abcd", "ad"},
		{2, "ab", "abcd", "abd"}, // none of these makes room
		{0, "", "ab", "b"},
	} {
		r := New(row.limit, func(v *string) bool { return strings.Contains(row.busy, *v) })
		for _, c := range row.steps {
			key := strings.ToLower(string(c))
			if key != string(c) {
				r.Drop(key)
				continue
			}
			if v, made := r.Use(key); made {
				*v = key
			}
		}
		got := ""
		for e := r.oldest.Front(); e != nil; e = e.Next() {
			got += e.Value.(*entry[string]).value
		}
		if got != row.want || len(r.at) != len(row.want) {
			t.Errorf("%d %q %s: %s, want %s", row.limit, row.busy, row.steps, got, row.want)
		}
	}
	if New[string](1, nil).Get("a") != nil {
		t.Error("an empty one has something")
	}
}

func BenchmarkRecentFull(b *testing.B) {
	r := New[int](1<<16, nil)
	for i := 0; b.Loop(); i++ {
		r.Use(fmt.Sprint(i))
	}
}
