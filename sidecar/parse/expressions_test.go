package parse_test

import (
	"regexp"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

func TestNext(t *testing.T) {
	pairs := parse.Matcher{Find: regexp.MustCompile(`@(?P<tool>\w+)(?P<args>[^@]*)`),
		Each: regexp.MustCompile(`~(?P<key>\w+):`)}
	plain := parse.Matcher{Find: regexp.MustCompile(`@(?P<args>[^@]*)`), Tool: "read"}
	for _, row := range []struct {
		m    *parse.Matcher
		text string
		want parse.Match
		ok   bool
	}{
		{&pairs, "@exec ~command: ls ~cwd: /", parse.Match{Name: "exec", Args: `{"command":"ls","cwd":"/"}`, Read: true, JSON: -1, End: 26}, true},
		{&pairs, "@exec words", parse.Match{Name: "exec", JSON: -1, End: 11}, true},
		{&pairs, "@exec", parse.Match{Name: "exec", Args: "{}", Read: true, JSON: -1, End: 5}, true},
		{&plain, "@ {\"path\":1}", parse.Match{Name: "read", Args: "{}", Read: true, JSON: 2, End: 12}, true},
		{&plain, "@a.txt", parse.Match{Name: "read", Args: "a.txt", Read: true, JSON: -1, End: 6}, true},
		{&plain, "none", parse.Match{}, false},
	} {
		got, ok := row.m.Next(row.text, 0, len(row.text), len(row.text), "")
		if got != row.want || ok != row.ok {
			t.Errorf("%q: %+v, %v", row.text, got, ok)
		}
	}
}

func TestCheck(t *testing.T) {
	find := regexp.MustCompile("x")
	for _, m := range []parse.Matcher{{}, {Find: find, Each: find}, {Find: find, Until: "page"}} {
		if m.Check() == nil {
			t.Errorf("%+v passes", m)
		}
	}
	if err := (&parse.Matcher{Find: find, Until: parse.UntilReply}).Check(); err != nil {
		t.Error(err)
	}
}
