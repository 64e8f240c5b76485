package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/corpus"
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
	for _, c := range corpus.Load[family](t, "families") {
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
		for name, pieces := range cuts(c.Raw) {
			cut := readPieces(s, catalog, pieces, finish)
			if cut.Content != got.Content || cut.Reasoning != got.Reasoning ||
				len(cut.Calls) != len(got.Calls) {
				t.Errorf("%s in %s: %q %q, whole: %q %q", c.ID, name, cut.Content, cut.Reasoning, got.Content,
					got.Reasoning)
			}
		}
	}
	t.Logf("%d cases: calls right in %d, all right in %d, calls that are none in %d", cases, calls, whole,
		none)
	if calls < cases*97/100 || whole < cases*97/100 || none > 0 {
		t.Errorf("of %d cases calls are right in %d, all in %d; %d have calls that are none", cases, calls,
			whole, none)
	}
}

func sameText(got string, want *string) bool {
	if want == nil {
		want = new(string)
	}
	return strings.TrimSpace(got) == strings.TrimSpace(*want)
}
