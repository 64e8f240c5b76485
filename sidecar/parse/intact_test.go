package parse_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// readIntact reads a reply of a server that is not known to eat headers.
func readIntact(s *parse.Strategies, c *tools.Catalog, pieces ...string) parse.Reading {
	f := facts()
	f.Intact = true
	r := s.Reader(c, f)
	for _, p := range pieces {
		r.Feed(parse.Delta{Content: p})
	}
	got, _ := r.Close("stop")
	return got
}

// sameIntact: to hold no lead changes nothing but what a thought without its header
// becomes, and that there was one is seen all the same. No call is added by it.
func sameIntact(t *testing.T, s *parse.Strategies, c *tools.Catalog, text string) (headless bool) {
	t.Helper()
	held, intact := readPieces(s, c, []string{text}, "stop"), readIntact(s, c, text)
	if diff := differ(intact, readIntact(s, c, strings.Split(text, "")...)); diff != "" {
		t.Errorf("%q: read character by character, it differs:\n%s", text, diff)
	}
	switch {
	case held.Headless != intact.Headless:
		t.Errorf("%q: headless %v, and %v where no lead is held", text, held.Headless, intact.Headless)
	case !held.Headless:
		if diff := differ(unblank(held), unblank(intact)); diff != "" {
			t.Errorf("%q: the reading differs where no lead is held:\n%s", text, diff)
		}
	case slices.ContainsFunc(called(intact),
		func(c string) bool { return !slices.Contains(called(held), c) }):
		t.Errorf("%q: calls %v, and %v where no lead is held", text, called(held), called(intact))
	}
	return held.Headless
}

// unblank is a reading without blanks at its start: before a first token they are a thought
// where they are held, and text where they are not.
func unblank(r parse.Reading) parse.Reading {
	r.Content, r.Reasoning = strings.TrimSpace(r.Content), strings.TrimSpace(r.Reasoning)
	r.Steps = slices.DeleteFunc(slices.Clone(r.Steps),
		func(s parse.Step) bool { return s.Outcome == parse.Thinking && s.From == 0 })
	if len(r.Steps) == 0 {
		r.Steps = nil
	}
	return r
}

// called is what leaves, name and arguments.
func called(r parse.Reading) (out []string) {
	for _, c := range r.Calls {
		out = append(out, c.Name+" "+string(c.Arguments))
	}
	return out
}

func TestIntactCorpora(t *testing.T) {
	s, headless, all := shipped.Strategies(""), 0, 0
	read := func(c *tools.Catalog, text string) {
		all++
		if sameIntact(t, s, c, text) {
			headless++
		}
	}
	for _, file := range []string{"harmony", "react", "markers"} {
		for _, l := range testkit.Corpus[labelled](t, file) {
			read(catalogOf(l.Input.Tools, l.Input.Tools != nil), strings.Join(l.pieces(t), ""))
		}
	}
	t.Logf("%d of %d replies begin with a thought without its header", headless, all)
}

func TestIntactFragments(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 5))
	headless, texts := 0, 6000
	if testing.Short() {
		texts = 1000
	}
	for range texts {
		text := ""
		for range 1 + rnd.IntN(9) {
			text += fragments[rnd.IntN(len(fragments))]
		}
		if sameIntact(t, shipped.Strategies(""), offeredForFuzz(), text) {
			headless++
		}
		if t.Failed() {
			return
		}
	}
	if headless == 0 {
		t.Error("no text begins with a thought without its header: nothing is tested")
	}
}

// TestHeadless: a thought whose header the server ate is known by the token that ends it.
func TestHeadless(t *testing.T) {
	long := strings.Repeat("We need to think about this. ", 30) + "So read it."
	for text, want := range map[string]bool{
		"I need it.<|end|><|start|>assistant<|channel|>final<|message|>Hi.":    true,
		"I need it.<|start|>assistant<|channel|>final<|message|>Hi.":           true,
		"I need it.assistantcommentary to=functions.read json{\"path\":\"a\"}": true,
		"I need it.assistantfinalHi.":                                          true,
		long + "<|end|><|start|>assistant<|channel|>final<|message|>Hi.":       true,
		"Hi.": false, "": false, long: false,
		"Let me look. <|channel|>commentary to=functions.read<|message|>{\"path\":\"a\"}":          false,
		"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi.": false,
		"analysisHm.assistantfinalHi.": false,
		"Hi.<|return|>":                false,
	} {
		if got := readIntact(shipped.Strategies(""), offeredForFuzz(), text); got.Headless != want {
			t.Errorf("%.80q: %v", text, got.Headless)
		}
	}
	r := shipped.Strategies("").Reader(offeredForFuzz(), parse.Facts{Intact: true})
	r.Feed(parse.Delta{Reasoning: "Hm."})
	r.Feed(parse.Delta{Content: "Hi.<|end|>"})
	if got, _ := r.Close("stop"); got.Headless {
		t.Error("a thought that the server told was not eaten")
	}
}

// Where the server is not known to eat headers, text leaves in the delta it comes in, unless it may be
// markup that lost its tokens.
func TestIntactLeavesAtOnce(t *testing.T) {
	for text, now := range map[string]string{
		"It is one.": "It is one.", "analysis": "", "anal": "", "commentary to=": "", "assistant": "",
		"final": "", "a": "", "<": "",
		"My commentary ": "My ", "My commentary is ": "My commentary is ", "Go to ": "Go ",
		"Go to the": "Go to the",
	} {
		r := shipped.Strategies("").Reader(offeredForFuzz(), parse.Facts{Intact: true})
		got := ""
		for _, e := range r.Feed(parse.Delta{Content: text}) {
			got += e.Text
		}
		if got != now || r.Leading() {
			t.Errorf("%q: %q leaves at once", text, got)
		}
	}
}

// What begins as thoughts do is held all the same, and is a thought if a header follows;
// everything else leaves in the delta it comes in. Deltas make no difference.
func TestIntactHoldsThoughts(t *testing.T) {
	s := compiled(t, parse.Strategy{ID: "harmony", Kind: parse.Harmony, Header: harmony.UsualWords(),
		Lead: 64, Thoughts: []string{"We need", "the user"}})
	const end = "<|end|><|start|>assistant<|channel|>final<|message|>Hi."
	for text, want := range map[string]struct {
		now     string // what leaves before the header is there
		thought string
	}{
		"We need to greet.":   {"", "We need to greet."},
		" The User greets.":   {"", " The User greets."},
		"We":                  {"", "We"},
		"Well, hello.":        {"Well, hello.", ""},
		"Here it is: we need": {"Here it is: we need", ""},
		"We need " + strings.Repeat("much more of it, ", 5): {"We need " + strings.Repeat("much more of it, ", 5), ""},
	} {
		for _, pieces := range [][]string{{text}, strings.Split(text, "")} {
			r := s.Reader(offeredForFuzz(), parse.Facts{Intact: true})
			now := ""
			for _, p := range pieces {
				for _, e := range r.Feed(parse.Delta{Content: p}) {
					now += e.Text
				}
			}
			if now != want.now {
				t.Errorf("%q in %d pieces: %q leaves at once, want %q", text, len(pieces), now, want.now)
			}
			r.Feed(parse.Delta{Content: end})
			if got, _ := r.Close("stop"); got.Reasoning != want.thought ||
				!strings.HasSuffix(got.Content, "Hi.") {
				t.Errorf("%q in %d pieces: thought %q, text %q", text, len(pieces), got.Reasoning,
					got.Content)
			}
		}
	}
}
