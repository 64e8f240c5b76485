package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// A server may switch from reasoning to content at any byte.
func TestFieldsSplitAnywhere(t *testing.T) {
	const thought = "We look."
	for _, reply := range []struct{ text, calls, shows string }{
		{`<|end|><|start|>assistant<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{"command":"ls -la \"x\" {a}"}<|call|>`, `exec{"command":"ls -la \"x\" {a}"}`, ""},
		{`<|end|><|start|>assistant to=functions.read<|channel|>commentary json<|message|>{"path":"a"}<|call|>`, `read{"path":"a"}`, ""},
		{"<|end|><|start|>assistant<|channel|>final<|message|>Here is {\"x\":1}.", "", "Here is {\"x\":1}."},
	} {
		for i := 0; i <= len(reply.text); i++ {
			for _, size := range []int{3, len(reply.text)} {
				r := shipped.Strategies("").Reader(offeredForFuzz(), facts())
				for _, s := range inPieces(thought+reply.text[:i], size) {
					r.Feed(parse.Delta{Reasoning: s})
				}
				for _, s := range inPieces(reply.text[i:], size) {
					r.Feed(parse.Delta{Content: s})
				}
				got, _ := r.Close("stop")
				if calls := strings.TrimSpace(showCalls(got.Calls)); calls != reply.calls ||
					got.Content != reply.shows {
					t.Errorf("split at %d of %q in pieces of %d: calls %q, shows %q", i, reply.text, size,
						calls, got.Content)
				}
			}
		}
	}
}

// What the content begins with may have nothing to do with a message that the thoughts end within.
func TestFieldsThatDoNotGoOn(t *testing.T) {
	const call = "We look.<|end|><|start|>assistant<|channel|>commentary to=functions.exec<|message|>"
	for _, c := range []struct{ reasoning, content, shows string }{
		{call + `{"command":"rm`, `Here is {"x":"y"}, the answer.`, `Here is {"x":"y"}, the answer.`},
		{call + `{"command":"rm`, "Done.", "Done."},
		{"a <", "b and more", "b and more"},
		{"a <|", "b and more", "b and more"},
		{strings.TrimSuffix(call, "<|message|>"), "Hello there.", "Hello there."},
		{strings.TrimSuffix(call, "<|message|>"), `Hello {"command":"a"}`, `Hello {"command":"a"}`},
		{"We look.<|channel|>final<|message|>Hel", "Hello.", "Hello."}, // it is said again
	} {
		for size := 1; size <= len(c.content); size += 7 {
			r := shipped.Strategies("").Reader(offeredForFuzz(), facts())
			r.Feed(parse.Delta{Reasoning: c.reasoning})
			for _, s := range inPieces(c.content, size) {
				r.Feed(parse.Delta{Content: s})
			}
			if got, _ := r.Close("stop"); len(got.Calls) > 0 || got.Content != c.shows {
				t.Errorf("%q, then %q in pieces of %d: calls %q, shows %q", c.reasoning, c.content, size,
					showCalls(got.Calls), got.Content)
			}
		}
	}
}
