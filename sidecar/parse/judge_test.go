package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// What the judge denies does not leave, and the model reads why. What leaked and stands in the server's
// own field is denied once. What the judge changes in a call leaves as it was changed.
func TestJudge(t *testing.T) {
	f := facts()
	asked := 0
	f.Judge = func(c *tools.Call) *tools.Refusal {
		asked++
		if c.Name == "exec" {
			return &tools.Refusal{Code: tools.Denied, Name: c.Name, Why: "Nobody may list it."}
		}
		c.Arguments = []byte(`{"path":"/srv/a"}`)
		return nil
	}
	r := shipped.Strategies("").Reader(offeredForFuzz(), f)
	r.Feed(parse.Delta{Content: `<|channel|>commentary to=read<|message|>{"path":"a"}<|call|><|channel|>commentary to=exec<|message|>{"command":"ls"}<|call|>`})
	r.Feed(parse.Delta{Calls: []parse.CallDelta{{ID: "a", Name: "exec",
		Arguments: []byte(`{"command":"ls"}`)}}})
	got, _ := r.Close("stop")
	if calls := strings.TrimSpace(showCalls(got.Calls)); calls != `read{"path":"/srv/a"}` ||
		len(got.Refused) != 1 || asked != 2 {
		t.Errorf("gives %s, refused %v, the judge was asked %d times", calls, got.Refused, asked)
	}
	if want := "The call of exec was not made. Nobody may list it."; strings.TrimSpace(got.Content) != want {
		t.Errorf("shows %q, want %q", got.Content, want)
	}
	r = shipped.Strategies("").Reader(offeredForFuzz(), f)
	r.Feed(parse.Delta{Reasoning: `I list it.<|end|><|start|>assistant<|channel|>commentary to=exec<|message|>{"command":"ls"}<|call|>`})
	if got, _ := r.Close("stop"); len(got.Calls) > 0 || len(got.Refused) != 1 ||
		got.Refused[0].Code != tools.Denied {
		t.Errorf("in the thoughts: gives %s, refused %v", showCalls(got.Calls), got.Refused)
	}
}

// A tag of thoughts that the request speaks of is what it asks for.
func TestMentionedTags(t *testing.T) {
	const text = "<think>A thought.</think>Hi."
	f := facts()
	for _, mentioned := range []bool{false, true} {
		f.Mentioned = func(tag string) bool { return mentioned && tag == "<think>" }
		want := "Hi."
		if mentioned {
			want = text
		}
		if got := readAs(shipped.Strategies(""), offeredForFuzz(), f, []string{text},
			"stop"); got.Content != want {
			t.Errorf("mentioned: %v: shows %q", mentioned, got.Content)
		}
	}
}
