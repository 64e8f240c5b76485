package state

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestTextsForgetTheOldest(t *testing.T) {
	k := newTexts(2)
	for _, id := range []string{"a", "b", "c"} {
		k.Put(id, "because "+id)
	}
	if _, ok := k.Get("a"); ok {
		t.Error("a is still known")
	}
	for _, id := range []string{"b", "c"} {
		if s, ok := k.Get(id); !ok || s != "because "+id {
			t.Errorf("%s: %q %v", id, s, ok)
		}
	}
	k.Put("c", "again")
	if s, _ := k.Get("c"); s != "again" || k.by.Len() != 2 {
		t.Errorf("c: %q, %d kept", s, k.by.Len())
	}
}

func TestTextsKeepTheEnd(t *testing.T) {
	k := newTexts(1)
	k.Put("a", strings.Repeat("é", maxText)+"end")
	s, _ := k.Get("a")
	if len(s) > maxText || !strings.HasSuffix(s, "end") || !strings.HasPrefix(s, "é") {
		t.Errorf("%d bytes, %q…", len(s), s[:4])
	}
}

func TestTextsNothingToKeep(t *testing.T) {
	k := newTexts(0)
	k.Put("a", "x")
	newTexts(1).Put("", "x")
	if k.by.Len() != 0 {
		t.Error("kept something")
	}
}

func TestTextsConcurrently(t *testing.T) {
	k := newTexts(50)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				id := fmt.Sprint(w, i)
				k.Put(id, id)
				if s, ok := k.Get(id); ok && s != id {
					t.Errorf("%s: %q", id, s)
				}
			}
		})
	}
	wg.Wait()
	if k.by.Len() != 50 {
		t.Errorf("%d kept, want 50", k.by.Len())
	}
}
