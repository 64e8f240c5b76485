package approvals

import (
	"strings"
	"testing"
)

func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	for range 10000 {
		id := newID()
		if len(id) != 9 || seen[id] || parseID(id) != id || parseID(" "+strings.ToUpper(id)) != id {
			t.Fatalf("%q, typed %q", id, parseID(id))
		}
		seen[id] = true
	}
	for in, want := range map[string]string{"K7PW3MDX": "k7pw-3mdx", "o0il-1abc": "0011-1abc", "k7pw": "",
		"": "", "k7pw-3mdx-": "k7pw-3mdx"} {
		if got := parseID(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
