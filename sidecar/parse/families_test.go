package parse_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/modelserver"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// cuts are ways to cut a text into pieces.
func cuts(s string) map[string][]string {
	out := map[string][]string{"whole": {s}, "halves": {s[:len(s)/2], s[len(s)/2:]}}
	for name, n := range map[string]int{"bytes": 1, "twos": 2, "threes": 3, "sevens": 7, "tens": 10,
		"hundreds": 100} {
		for i := 0; i < len(s); i += n {
			out[name] = append(out[name], s[i:min(len(s), i+n)])
		}
	}
	return out
}

// Replies of other families, as their models write them, are read by the files of families: the calls of
// nearly all, no call that is none, and thoughts and text in their places. Any chunking gives the same.
func TestFamilies(t *testing.T) {
	cases, calls, whole, none := 0, 0, 0, 0
	for _, c := range testkit.Corpus[family](t, "families") {
		of := shipped.FamilyByName(c.Models[0])
		if of == nil {
			t.Errorf("no family knows %s", c.Models[0])
			continue
		}
		finish := "stop"
		if strings.Contains(c.ID, "truncated") {
			finish = "length"
		}
		cases++
		s, catalog := shipped.Strategies(of.Name), catalogOf(c.Tools, true)
		got := readPieces(s, catalog, []string{c.Raw}, finish)
		same := sameCalls(got.Calls, c.Expect.Calls, nil)
		switch right := sameText(got.Content, c.Expect.Content) &&
			sameText(got.Reasoning, c.Expect.Reasoning); {
		case same && (right || c.Expect.Error):
			calls, whole = calls+1, whole+1
		case same:
			calls++
		case len(got.Calls) > len(c.Expect.Calls):
			none++
			t.Logf("%s: %v", c.ID, got.Calls)
		}
		sameInPieces(t, c.ID, s, catalog, c.Raw, finish, got)
	}
	t.Logf("%d cases: calls right in %d, all right in %d, calls that are none in %d", cases, calls, whole,
		none)
	if calls < cases*97/100 || whole < cases*97/100 || none > 0 {
		t.Errorf("of %d cases calls are right in %d, all in %d; %d have calls that are none", cases, calls,
			whole, none)
	}
}

// sameInPieces checks that a reply is read the same however it is cut.
func sameInPieces(t *testing.T, id string, s *parse.Strategies, catalog *tools.Catalog, raw, finish string,
	whole parse.Reading) {
	t.Helper()
	for name, pieces := range cuts(raw) {
		got := readPieces(s, catalog, pieces, finish)
		if got.Content != whole.Content || got.Reasoning != whole.Reasoning || len(got.Calls) != len(whole.Calls) {
			t.Errorf("%s in %s: %q %q, whole: %q %q", id, name, got.Content, got.Reasoning, whole.Content,
				whole.Reasoning)
		}
	}
}

func sameText(got string, want *string) bool {
	if want == nil {
		want = new(string)
	}
	return strings.TrimSpace(got) == strings.TrimSpace(*want)
}

// What the chat templates of public models make of a call is read back, each by the family of its model, or
// without one. A template may leave out a call, a text or a thought: what it wrote counts.
func TestChatTemplates(t *testing.T) {
	known := map[string]string{
		"MiniMax-M3/nested":                    "an object in an argument is tags of its own",
		"meetkai-functionary-medium-v3.2/said": "the recipient of the text stays: all",
	}
	right, lost := map[string]bool{}, map[string]bool{}
	for _, turn := range modelserver.Turns(t) {
		wrote := func(s string) bool { return s != "" && strings.Contains(turn.Raw, s) }
		var want []wantCall
		for _, c := range turn.Calls {
			if word := firstWord.FindStringSubmatch(string(c.Arguments)); wrote(c.Name) && wrote(word[1]) {
				want = append(want, wantCall{Name: c.Name, Arguments: c.Arguments})
			}
		}
		if len(want) == 0 {
			lost[turn.Template] = true
			continue
		}
		family := ""
		if of := shipped.FamilyByName(strings.TrimPrefix(turn.Template, "llama-cpp-")); of != nil {
			family = of.Name
		}
		s, catalog := shipped.Strategies(family), catalogOf(turn.Tools, true)
		got := readPieces(s, catalog, []string{turn.Raw}, "stop")
		same := sameCalls(got.Calls, want, nil)
		text, thought := strings.TrimSpace(got.Content), strings.TrimSpace(got.Reasoning)
		texts := (text == turn.Content || text == "" && !wrote(turn.Content)) &&
			(thought == turn.Thought || thought == "" && !wrote(turn.Thought))
		name := turn.Template + "/" + turn.ID
		sameInPieces(t, name, s, catalog, turn.Raw, "stop", got)
		switch why := known[name]; {
		case same && texts && why != "":
			t.Errorf("%s is read now: %s", name, why)
		case same && texts:
			right[turn.Template] = true
		case why == "":
			t.Errorf("%s, family %q: calls %v, text %q, thought %q of %q", name, family, got.Calls, text, thought,
				turn.Raw)
		}
	}
	t.Logf("%d templates are read; %d leave out a call", len(right), len(lost))
	if len(right) < 45 {
		t.Errorf("only %d templates were read", len(right))
	}
}

// firstWord is the first text of arguments.
var firstWord = regexp.MustCompile(`(?:path|text)":"(\w+)`)
