package wordlist

import (
	"maps"
	"slices"
	"testing"
)

func TestLists(t *testing.T) {
	l := Of("# said of all\nfirst\n\ta b\n\n\tc+d\nsecond\n\t# not a\n\te\n")
	if got := l.List("first"); !slices.Equal(got, []string{"a", "b", "c d"}) {
		t.Errorf("first: %q", got)
	}
	if got := l.Set("second")(); !maps.Equal(got, map[string]bool{"e": true}) {
		t.Errorf("second: %v", got)
	}
	if got := l.List("third"); got != nil {
		t.Errorf("third: %q", got)
	}
}
