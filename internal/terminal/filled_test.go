package terminal

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Text that is filled has the same words, no line that is too long, and none that could hold
// the word behind it.
func TestFilled(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`([a-zé…]{1,9}[ \n]){0,60}`).Draw(rt, "text")
		width := rapid.IntRange(10, 40).Draw(rt, "width")
		text = strings.ReplaceAll(text, "\n ", "\n")
		got := Filled(text, width)
		if !reflect.DeepEqual(strings.Fields(got), strings.Fields(text)) {
			rt.Fatalf("other words:\n%s", got)
		}
		lines := strings.Split(got, "\n")
		for i, line := range lines {
			if utf8.RuneCountInString(line) > width {
				rt.Fatalf("%q is longer than %d", line, width)
			}
			if i+1 < len(lines) && line != "" && lines[i+1] != "" {
				next, _, _ := strings.Cut(lines[i+1], " ")
				if utf8.RuneCountInString(line+" "+next) <= width {
					rt.Fatalf("%q could hold %q", line, next)
				}
			}
		}
	})
	const want = "one two\nthree\n\n  as it   is, however long\n\nfour five"
	if got := Filled("one\ntwo three\n\n  as it   is, however long\n\nfour\nfive\n", 9); got != want {
		t.Errorf("%q", got)
	}
}
