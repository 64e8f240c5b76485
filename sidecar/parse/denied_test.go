package parse_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Wherever a condition says no, the trace says which one, and what it saw.
func TestDenied(t *testing.T) {
	no := func(parse.Env) (bool, error) { return false, nil }
	fails := func(parse.Env) (bool, error) { return true, errors.New("out of range") }
	keys := parse.Keys{Calls: []string{"tool_calls"}, Name: []string{"name"},
		Arguments: []string{"arguments"}}
	for _, row := range []struct {
		name string
		st   parse.Strategy
		d    parse.Delta
		saw  string
	}{
		{"native", parse.Strategy{Kind: parse.Native}, parse.Delta{Calls: []parse.CallDelta{{Name: "read", Arguments: []byte(`{"path":"a"}`)}}}, `{"path":"a"}`},
		{"harmony", parse.Strategy{Kind: parse.Harmony, Header: harmony.UsualWords()}, parse.Delta{Content: `<|channel|>commentary to=read<|message|>{"path":"a"}<|call|>`}, `to=read`},
		{"harmony in thoughts", parse.Strategy{Kind: parse.Harmony, Header: harmony.UsualWords(), Read: []parse.Field{parse.Content, parse.Reasoning}},
			parse.Delta{Reasoning: `Hm.<|channel|>commentary to=read<|message|>{"path":"a"}<|call|>`},
			`to=read`},
		{"object", parse.Strategy{Kind: parse.JSON, Envelope: keys}, parse.Delta{Content: `{"name":"read","arguments":{"path":"a"}}`}, `{"name"`},
		{"list of calls", parse.Strategy{Kind: parse.JSON, Envelope: keys}, parse.Delta{Content: `{"tool_calls":[{"name":"read","arguments":{"path":"a"}}]}`}, `"tool_calls"`},
		{"fence", parse.Strategy{Kind: parse.JSON, Envelope: keys}, parse.Delta{Content: "```json\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n```"}, `{"name"`},
		{"name lost", parse.Strategy{Kind: parse.JSON, Envelope: parse.Keys{Name: []string{"path"}, Arguments: []string{"x"}}}, parse.Delta{Content: `{"path":"a"}`}, `{"path":"a"}`},
		{"planned", parse.Strategy{Kind: parse.JSON, Envelope: keys, Read: []parse.Field{parse.Content, parse.Reasoning}}, parse.Delta{Reasoning: `I'll read the file. {"path":"a"}`}, `{"path":"a"}`},
		{"lines", parse.Strategy{Kind: parse.Lines}, parse.Delta{Content: "Action: read\nAction Input: {\"path\":\"a\"}\n"}, "Action: read"},
		{"block", parse.Strategy{Kind: parse.Frames, Open: []string{"[TOOL:"}, Frame: calls("{pairs}")}, parse.Delta{Content: "[TOOL:read|path=a]"}, "[TOOL:read"},
		{"phrases", parse.Strategy{Kind: parse.Phrases, Tools: []string{"read"}, Phrase: []parse.Phrase{{Tool: "read", After: []string{"read"}, Take: "path", As: "path"}}},
			parse.Delta{Content: "I will read notes.md now."}, "I will read notes.md now."},
	} {
		for when, why := range map[string]func(parse.Env) (bool, error){"": no, "out of range": fails} {
			st := row.st
			st.ID, st.When = "s", why
			r := compiled(t, st).Reader(offeredForFuzz(), facts())
			r.Feed(row.d)
			got, _ := r.Close("stop")
			found := false
			for _, s := range got.Steps {
				if s.Denied != nil {
					found = s.Strategy == "s" && s.Outcome == parse.Refused && s.Error == when &&
						s.To > s.From && strings.Contains(s.Denied.Text, row.saw)
				}
			}
			if !found || len(got.Calls) > 0 {
				t.Errorf("%s: calls %v, trace %+v", row.name, got.Calls, got.Steps)
			}
		}
	}
}

// So it does where the header stands behind the arguments.
func TestDeniedBehindItsHeader(t *testing.T) {
	for _, allows := range []bool{true, false} {
		words := parse.Strategy{ID: "words", Kind: parse.Harmony, Header: harmony.UsualWords()}
		object := parse.Strategy{ID: "object", Kind: parse.JSON, Envelope: parse.Keys{Name: []string{"name"},
			Arguments: []string{"arguments"}}, When: func(parse.Env) (bool, error) { return allows, nil }}
		got := readPieces(compiled(t, words, object), offeredForFuzz(),
			[]string{`{"path":"a"}to=functions.read`}, "stop")
		if allows != (len(got.Calls) == 1) {
			t.Errorf("allowed: %v, calls %v, trace %+v", allows, got.Calls, got.Steps)
		}
	}
}

// What a condition denies is the same for any chunking, too.
func TestAnyChunkingDeniesTheSame(t *testing.T) {
	when := func(e parse.Env) (bool, error) { return len(e.Text)%2 == 0, nil }
	s := compiled(t,
		parse.Strategy{ID: "harmony", Kind: parse.Harmony, Header: harmony.UsualWords(), Lead: 24,
			When: when}, markers(when),
		parse.Strategy{ID: "json", Kind: parse.JSON, When: when,
			Envelope: parse.Keys{Calls: []string{"tool_calls"}, Name: []string{"name", "action"},
				Arguments: []string{"arguments", "action_input"}}},
		parse.Strategy{ID: "react", Kind: parse.Lines, When: when, Done: []string{"done"}},
		parse.Strategy{ID: "tags", Kind: parse.Frames, When: when, Open: []string{"<tool_call>"},
			Close: []string{"</tool_call>"}, Frame: calls("{object}", "{tags}", "{code}")})
	whole := []string{`{"name":"exec","arguments":{"command":"ls"}}`, "[TOOL:read|path=a]", "\n",
		"\nAction: exec\nAction Input: {\"command\":\"ls\"}\n"}
	c, denied := offeredForFuzz(), 0
	rnd := rand.New(rand.NewPCG(3, 9))
	texts, step := howMany(t), 1
	if testing.Short() {
		step = 19
	}
	for range texts {
		text := ""
		for range 1 + rnd.IntN(12) {
			if rnd.IntN(3) == 0 {
				text += whole[rnd.IntN(len(whole))]
			} else {
				text += fragments[rnd.IntN(len(fragments))]
			}
		}
		denied += countDenied(s, c, text)
		sameInSteps(t, s, c, step, "denied", text)
	}
	if denied < texts/10 {
		t.Errorf("only %d candidates were denied", denied)
	}
}

// howMany texts: TEXTS in the environment, or a few.
func howMany(t *testing.T) int {
	t.Helper()
	given := os.Getenv("TEXTS")
	if given == "" {
		return 500
	}
	n, err := strconv.Atoi(given)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func countDenied(s *parse.Strategies, c *tools.Catalog, text string) (n int) {
	for _, step := range readPieces(s, c, []string{text}, "stop").Steps {
		if step.Denied != nil {
			n++
		}
	}
	return n
}
