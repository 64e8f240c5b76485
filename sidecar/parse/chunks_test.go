package parse_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// chunkings are ways to cut a text: whole, each byte, each step-th split point of a
// short text, and random pieces.
func chunkings(text string, step int) [][]string {
	out := [][]string{{text}, strings.Split(text, "")}
	bytes := make([]string, len(text))
	for i := range bytes {
		bytes[i] = text[i : i+1]
	}
	out = append(out, bytes)
	if len(text) <= 600 {
		for i := 1 + len(text)%step; i < len(text); i += step {
			out = append(out, []string{text[:i], text[i:]})
		}
	}
	rnd := rand.New(rand.NewPCG(1, uint64(len(text))))
	for range 8 {
		var pieces []string
		for rest := text; rest != ""; {
			n := min(len(rest), 1+rnd.IntN(12))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		out = append(out, pieces)
	}
	return out
}

// differ compares two readings to the last byte of their traces.
func differ(want, got parse.Reading) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

// sameReading fails where a chunking changes the reading in any byte.
func sameReading(t *testing.T, s *parse.Strategies, c *tools.Catalog, id, text string) {
	t.Helper()
	sameInSteps(t, s, c, 1, id, text)
}

func sameInSteps(t *testing.T, s *parse.Strategies, c *tools.Catalog, step int, id, text string) {
	t.Helper()
	var want parse.Reading
	for i, pieces := range chunkings(text, step) {
		got := readPieces(s, c, pieces, "stop")
		if i == 0 {
			want = got
			continue
		}
		if diff := differ(want, got); diff != "" {
			t.Errorf("%s: cut into %d pieces %.60q the reading differs (-whole +cut):\n%s\ntext %q", id,
				len(pieces), pieces[0], diff, text)
			return
		}
	}
}

func TestAnyChunkingOfTheCorporaReadsTheSame(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 19 // of hundreds of replies, each with an offset of its own
	}
	for _, s := range []*parse.Strategies{ownFormat(), shipped.Strategies("")} {
		anyChunkingOfTheCorpora(t, s, step)
	}
}

func anyChunkingOfTheCorpora(t *testing.T, s *parse.Strategies, step int) {
	for _, file := range []string{"harmony", "react", "markers"} {
		for _, l := range testkit.Corpus[labelled](t, file) {
			sameInSteps(t, s, catalogOf(l.Input.Tools, l.Input.Tools != nil), step, l.ID,
				strings.Join(l.pieces(t), ""))
		}
	}
	for _, w := range testkit.Corpus[wild](t, "gptoss") {
		text := ""
		for _, d := range w.deltas() {
			text += d.Content
		}
		sameInSteps(t, s, catalogOf(w.Tools, w.Tools != nil), step, w.ID, text)
	}
}

// fragments are what damaged replies are made of.
var fragments = []string{
	"<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>", "<|call|>", "<|return|>", "<|",
	"<", "assistant", "analysis", "commentary", "final",
	" to=", "to=", "functions.", "exec", "read", "web_search", "json", "code", " ", "\n", "\n\n", "\t", "{",
	"}", "[", "]", "\"", "\\", ":", ",", "{\"command\":\"ls\"}", "{\"path\":",
	"{\"name\":\"exec\",\"arguments\":", "\"a\"", "`", "```", "~~~", "json\n", "Thought: ", "Action: ",
	"Action Input: ", "Observation: ", "Final Answer: ", "[TOOL:", "|", "=", "[DONE]",
	"<tool_call>", "</tool_call>", "<function=", ">", "</function>", "<parameter=", "</parameter>",
	"<invoke name=\"exec\">", "<tool>", "</tool>", "<tool_input>", "</tool_input>",
	"[END_TOOL_REQUEST]", "[exec]\n", "<think>", "</think>", "word ", "I will ", ".", "é", "CALL ", "(", ")",
	"'",
	"@@", "@@exec", "@@end", "~~ command: ", "<<call name=read", "</call>", "path='a'", "!!exec ", "!!", ";",
	"<calls>", "</calls>", "<f=exec>", "</f>", "<p=command>", "</p>", "((", "))", "<|call>call:exec", "<call|>", `<|"|>`, "⟦call⟧", "⟦args⟧",
	"$run ", "<read>", "</read>", "<path>", "[exec(", "[read(path=", "%%", "%%stop", "<sep>",
	"&lt;|channel|&gt;", "＜｜call｜＞", `\u003c|message|\u003e`, "<|channel>", "|end|>", "<|Start|>",
	"< | return | >", "%3C|constrain|%3E", "&lt;", "|", "&", "\u200b",
}

// Whatever is put together of fragments reads the same in any pieces, with windows
// as small as the fragments, too.
func TestAnyChunkingOfFragmentsReadsTheSame(t *testing.T) {
	own := shippedWith(t, append(frames(t), block("{code}", "CALL ", ""),
		parse.Strategy{ID: "native", Kind: parse.Native}, parse.Strategy{ID: "drop", Kind: parse.Drop,
			Open: []string{"<sep>"}},
		parse.Strategy{ID: "phrases", Kind: parse.Phrases, Tools: []string{"read"},
			Phrase: []parse.Phrase{{Tool: "read", After: []string{"read"}, Take: "path",
				As: "sentence"}}})...)
	for _, k := range parse.Kinds() {
		if !slices.ContainsFunc(own.All(), func(st parse.Strategy) bool { return st.Kind == k }) {
			t.Errorf("no fragment is read by a strategy of kind %s", k)
		}
	}
	c := offeredForFuzz()
	rnd := rand.New(rand.NewPCG(7, 7))
	texts := 9000
	if testing.Short() {
		texts = 1500
	}
	for range texts {
		text := ""
		for range 2 + rnd.IntN(24) {
			text += fragments[rnd.IntN(len(fragments))]
		}
		facts := parse.Facts{MaxText: 16 << rnd.IntN(8)}
		finish := []string{"stop", "length"}[rnd.IntN(2)]
		var want parse.Reading
		for i, size := range []int{len(text), 1, 2, 3, 5, 11} {
			r := own.Reader(c, facts)
			for at := 0; at < len(text); at += size {
				r.Feed(parse.Delta{Content: text[at:min(len(text), at+size)]})
			}
			got, _ := r.Close(finish)
			if i == 0 {
				want = got
			} else if diff := differ(want, got); diff != "" {
				t.Fatalf("%q (%s, window %d) in pieces of %d:\n%s", text, finish, facts.MaxText, size, diff)
			}
		}
	}
}

// What is put together of a family's marks, and of what stands between them, reads the same in any pieces,
// too.
func TestAnyChunkingOfFamiliesReadsTheSame(t *testing.T) {
	c, rnd := offeredForFuzz(), rand.New(rand.NewPCG(7, 9))
	texts := 200
	if testing.Short() {
		texts = 40
	}
	for _, f := range shipped.Families {
		s := shipped.Strategies(f.Name)
		parts := append([]string{"exec", "read", "command", "path", "a", " ", "\n", "word ", ".",
			"{\"command\":\"ls\"}", "{\"path\":\"a\"}", "\"", "'", "{", "}", "</x>", "<"}, f.Marks...)
		for _, st := range s.All() {
			if st.Own {
				parts = append(append(parts, st.Open...), st.Close...)
			}
		}
		for range texts {
			text := ""
			for range 2 + rnd.IntN(24) {
				text += parts[rnd.IntN(len(parts))]
			}
			want := readPieces(s, c, []string{text}, "stop")
			for _, pieces := range cuts(text) {
				if diff := differ(want, readPieces(s, c, pieces, "stop")); diff != "" {
					t.Fatalf("%s: %q in %d pieces:\n%s", f.Name, text, len(pieces), diff)
				}
			}
		}
	}
}
