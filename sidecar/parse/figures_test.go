package parse_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// family is a raw reply of some model, and what it means.
type family struct {
	ID, Family, Raw string
	Models          []string
	Tools           []json.RawMessage
	Expect          struct {
		Content   *string
		Reasoning *string
		Calls     []wantCall
		Error     bool
	}
}

// figures collect what became of each case of each set, so that two readers can be compared case by case.
type figures struct {
	sets []string
	of   map[string]map[string]int // by set and outcome
	out  *os.File                  // a line for each case; nil: none
}

func (f *figures) add(set, id, outcome string) {
	if f.of[set] == nil {
		f.of[set] = map[string]int{}
		f.sets = append(f.sets, set)
	}
	f.of[set][outcome]++
	if f.out != nil {
		fmt.Fprintf(f.out, "%s\t%s\t%s\n", set, id, outcome)
	}
}

func (f *figures) log(t *testing.T) {
	for _, set := range f.sets {
		line, all := "", 0
		for _, n := range f.of[set] {
			all += n
		}
		for _, outcome := range []string{"right", "text", "asked", "missed", "wrong", "false"} {
			line += fmt.Sprintf(" %s %d", outcome, f.of[set][outcome])
		}
		t.Logf("%-14s %6d:%s", set, all, line)
	}
}

// TestFigures prints how the corpora are read; with FIGURES=FILE each case becomes a line there, so that two
// readers can be compared.
func TestFigures(t *testing.T) {
	f := &figures{of: map[string]map[string]int{}}
	if name := os.Getenv("FIGURES"); name != "" {
		file, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		f.out = file
	}
	s := shipped.Strategies("")
	for _, w := range testkit.Corpus[wild](t, "gptoss") {
		got := w.read(s)
		calls, content := w.judge(got)
		f.add("gptoss", w.ID, outcome(calls, content, len(w.Expect.Calls), got))
	}
	for _, set := range []string{"harmony", "react", "markers"} {
		for _, l := range testkit.Corpus[labelled](t, set) {
			got := readPieces(s, catalogOf(l.Input.Tools, l.Input.Tools != nil), l.pieces(t), "")
			calls := sameCalls(got.Calls, l.Expect.Calls, l.Expect.Optional)
			f.add(set, l.ID, outcome(calls, l.judge(got) == "", len(l.Expect.Calls)+len(l.Expect.Optional),
				got))
		}
	}
	for set, s := range map[string]*parse.Strategies{"families": s, "as gpt-oss": ownFormat()} {
		for _, c := range testkit.Corpus[family](t, "families") {
			got := readPieces(s, catalogOf(c.Tools, true), []string{c.Raw}, "stop")
			text := c.Expect.Content == nil && strings.TrimSpace(got.Content) == "" || c.Expect.Content != nil &&
				strings.TrimSpace(*c.Expect.Content) == strings.TrimSpace(got.Content)
			f.add(set, c.ID, outcome(sameCalls(got.Calls, c.Expect.Calls, nil), text || c.Expect.Error,
				len(c.Expect.Calls), got))
		}
	}
	f.log(t)
}

// outcome is what became of a case of a corpus.
func outcome(calls, content bool, wanted int, got parse.Reading) string {
	switch {
	case calls && content:
		return "right"
	case calls:
		return "text"
	case wanted == 0:
		return "false"
	case len(got.Calls) > 0:
		return "wrong"
	case len(got.Refused) > 0:
		return "asked"
	}
	return "missed"
}
