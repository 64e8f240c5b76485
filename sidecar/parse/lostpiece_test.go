package parse_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A header is read without its beginning, which a server eats or a prompt holds, and without any one of its
// pieces. What names the tool is none of these.
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
				texts = append(texts, "<|channel|>analysis<|message|>We list.<|end|>"+
					strings.Join(pieces[i+1:], ""))
			}
		}
		for _, text := range texts {
			r := shipped.Strategies("").Reader(offeredForFuzz(), parse.Facts{})
			r.Feed(parse.Delta{Content: text})
			got, _ := r.Close("stop")
			if len(got.Calls) != 1 || got.Calls[0].Name != name || string(got.Calls[0].Arguments) != body ||
				got.Content != "" {
				t.Errorf("%q: calls %s, shows %q, refused %v", text, showCalls(got.Calls), got.Content,
					got.Refused)
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
		head + body + strings.Repeat("}", 40):                                 1, // up to the limit of tokens
		head + body + "<|call|>json":                                          1,
		head + body + "<|call|> is how a call is made.":                       0,
	} {
		r := shipped.Strategies("").Reader(offeredForFuzz(), parse.Facts{})
		r.Feed(parse.Delta{Content: text})
		said := "stop"
		if strings.HasSuffix(text, "}}}") {
			said = "length"
		}
		got, _ := r.Close(said)
		if len(got.Calls) != calls || calls == 1 && string(got.Calls[0].Arguments) != body {
			t.Errorf("%q: calls %s, shows %q, refused %v", text, showCalls(got.Calls), got.Content,
				got.Refused)
		}
	}
}

// A file that lost the control tokens prints their numbers.
func TestNumberedTokens(t *testing.T) {
	const text = `[PAD200005]analysis[PAD200008]We list.[PAD200007][PAD200006]assistant[PAD200005]commentary to=functions.exec [PAD200003]json[PAD200008]{"command":"ls"}[PAD200012]`
	for _, pieces := range chunkings(text, 1) {
		got := readPieces(shipped.Strategies(""), offeredForFuzz(), pieces, "stop")
		if len(got.Calls) != 1 || string(got.Calls[0].Arguments) != `{"command":"ls"}` || got.Content != "" ||
			got.Reasoning != "We list." {
			t.Fatalf("in %d pieces: calls %s, shows %q, thinks %q", len(pieces), showCalls(got.Calls),
				got.Content, got.Reasoning)
		}
	}
}

// A header without a body calls a tool that takes nothing. Of one that takes something it says too little.
func TestNoBody(t *testing.T) {
	c := tools.NewCatalog(shipped.Tools, tools.NewSchemas(10), []tools.Tool{
		{Name: "list_agents", Parameters: []byte(`{"type":"object","properties":{}}`)},
		{Name: "set_light", Parameters: []byte(`{"type":"object","properties":{"area":{"type":"string"}}}`)},
	})
	for name, calls := range map[string]int{"list_agents": 1, "set_light": 0} {
		got := readPieces(shipped.Strategies(""), c,
			[]string{"<|channel|>commentary to=functions." + name + " <|constrain|>json<|message|>"}, "stop")
		if len(got.Calls) != calls || len(got.Calls)+len(got.Refused) != 1 || got.Content != "" {
			t.Errorf("%s: calls %s, shows %q, refused %v", name, showCalls(got.Calls), got.Content,
				got.Refused)
		}
	}
}
