package parse_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// A server takes the body of a call for the content, and leaves the header in the reasoning.
func TestCarriedHeader(t *testing.T) {
	const head = "I look.<|end|><|start|>assistant<|channel|>commentary to=functions.exec <|constrain|>json"
	const ls = `exec{"command":"ls"}`
	for name, tt := range map[string]struct{ reasoning, content, calls, shown, thought string }{
		"the arguments":      {head, `{"command":"ls"}`, ls, "", "I look."},
		"behind blanks":      {head, "\n {\"command\":\"ls\"}", ls, "", "I look."},
		"with the token":     {head, `<|message|>{"command":"ls"}<|call|>`, ls, "", "I look."},
		"the token in front": {head + "<|message|>", `{"command":"ls"}`, ls, "", "I look."},
		"a text": {head, "Done.", "", "Done.",
			"I look.assistantcommentary to=functions.exec json"},
		"another message": {head, `<|channel|>final<|message|>Done.`, "", "Done.",
			"I look.assistantcommentary to=functions.exec json"},
		"a header with its body": {head + `<|message|>{"command":"pwd"}<|call|>`, `{"answer":1}`, "",
			`{"answer":1}`, `I look.assistantcommentary to=functions.exec json{"command":"pwd"}`},
		"a header for nobody": {"I look.<|end|><|start|>assistant<|channel|>final", `{"answer":1}`, "",
			`{"answer":1}`, "I look.assistantfinal"},
		"a header that goes on": {head + "<|message|> is how", `{"answer":1}`, "", `{"answer":1}`,
			"I look.assistantcommentary to=functions.exec json is how"},
		"nothing, and then no end": {head, "\n", "", "\n", "I look.assistantcommentary to=functions.exec json"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 3, 1000} {
				var deltas []parse.Delta
				for _, s := range inPieces(tt.reasoning, size) {
					deltas = append(deltas, parse.Delta{Reasoning: s})
				}
				for _, s := range inPieces(tt.content, size) {
					deltas = append(deltas, parse.Delta{Content: s})
				}
				got, _ := readDeltas(shipped.Strategies(""), "stop", deltas...)
				if calls := strings.TrimSpace(showCalls(got.Calls)); calls != tt.calls ||
					got.Content != tt.shown || got.Reasoning != tt.thought {
					t.Errorf("in pieces of %d: calls %q, shows %q, thinks %q\nwant %q, %q, %q", size, calls,
						got.Content, got.Reasoning, tt.calls, tt.shown, tt.thought)
				}
			}
		})
	}
}

func inPieces(s string, size int) (out []string) {
	for part := range slices.Chunk([]byte(s), size) {
		out = append(out, string(part))
	}
	return out
}
