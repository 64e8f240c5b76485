package parse_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// A header is read without its beginning, which a server eats or a prompt holds, and without any one of its pieces. What
// names the tool is none of these.
func TestLostPieces(t *testing.T) {
	const name, body, call = "exec", `{"command":"ls"}`, "<|call|>"
	for _, pieces := range [][]string{
		{"<|start|>", "assistant", "<|channel|>", "commentary", " to", "=", "functions", ".", name, " ", "<|constrain|>", "json", "<|message|>", body, call},
		{"<|start|>", "assistant", " to", "=", "functions", ".", name, "<|channel|>", "commentary", " ", "json", "<|message|>", body, call},
	} {
		at := slices.Index(pieces, name)
		var texts []string
		for i := range at + 1 {
			texts = append(texts, strings.Join(pieces[i:], ""))
		}
		for i, piece := range pieces[:len(pieces)-2] {
			if i != at {
				texts = append(texts, strings.Join(pieces[:i], "")+strings.Join(pieces[i+1:], ""))
			}
			if piece == "<|start|>" { // and of one that begins behind a thought
				texts = append(texts, "<|channel|>analysis<|message|>We list.<|end|>"+strings.Join(pieces[i+1:], ""))
			}
		}
		for _, text := range texts {
			r := shipped.Strategies("").Reader(offeredForFuzz(), parse.Facts{})
			r.Feed(parse.Delta{Content: text})
			got, _ := r.Close("stop")
			if len(got.Calls) != 1 || got.Calls[0].Name != name || string(got.Calls[0].Arguments) != body || got.Content != "" {
				t.Errorf("%q: calls %s, shows %q, refused %v", text, showCalls(got.Calls), got.Content, got.Refused)
			}
		}
	}
}

// A token that slips in between the header and the arguments does not take them away.
func TestTokenInFront(t *testing.T) {
	const head, body = "<|channel|>commentary to=functions.exec <|constrain|>json<|message|>", `{"command":"ls"}`
	for text, calls := range map[string]int{
		head + "<|start|>" + body + "<|call|>":                                1,
		head + "<|channel|>" + body + "<|call|>":                              1,
		head + "<|channel|>commentary json<|message|>" + body + "<|call|>":    1,
		head + "<|start|>assistant<|channel|>final<|message|>Done.<|return|>": 0,
		head + body + "<|call|>json":                                          1,
		head + body + "<|call|> is how a call is made.":                       0,
	} {
		r := shipped.Strategies("").Reader(offeredForFuzz(), parse.Facts{})
		r.Feed(parse.Delta{Content: text})
		got, _ := r.Close("stop")
		if len(got.Calls) != calls || calls == 1 && string(got.Calls[0].Arguments) != body {
			t.Errorf("%q: calls %s, shows %q, refused %v", text, showCalls(got.Calls), got.Content, got.Refused)
		}
	}
}
