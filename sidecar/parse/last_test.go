package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

func TestLast(t *testing.T) {
	for text, want := range map[string]int{
		"": -1, "words": -1, `{"a":1}`: 0, `I look.{"a":1}`: 7, "I look.\n{\"a\":{\"b\":2}}\n": 8,
		`{"a":1} {"b":2}`: 8, `a {x} {"b":2}`: 6, `I look.{"a":1`: -1, `I look.{"a":1}.`: -1,
		`I look.{a:1}`: -1, `[{"a":1}]`: -1,
		strings.Repeat("{", 1000) + `{"a":1}`: -1, // too many braces to try
	} {
		if got := parse.LastObject(text); got != want {
			t.Errorf("%.40q: %d, want %d", text, got, want)
		}
	}
}

func TestEndsArguments(t *testing.T) {
	for text, want := range map[string]bool{
		`I look.tes.md"}`: true, "I look.\ntxt%20%7C%20sort": true, "ja。%E5%A4%A9 \n": true,
		"I look.": false, "": false, "It is 90% of a.": false, "see %zz": false,
	} {
		if got := parse.EndsArguments(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
