package parse_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

type wantCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Text      *string         `json:"input_text"`
	Raw       *string         `json:"arguments_text"`
	Subset    json.RawMessage `json:"arguments_subset"`
}

type labelled struct {
	ID    string
	Grade string
	Tags  []string
	Input struct {
		Text   string
		Chunks []string
		Base64 []string          `json:"chunks_b64"`
		Tools  []json.RawMessage `json:"tools"`
	}
	Expect struct {
		Reasoning    []string   `json:"reasoning"`
		Content      []string   `json:"content"`
		Alternatives [][]string `json:"content_alternatives"`
		Calls        []wantCall `json:"tool_calls"`
		Optional     []wantCall `json:"optional_tool_calls"`
	}
}

// pieces are the deltas of a case.
func (l labelled) pieces(t *testing.T) []string {
	switch {
	case l.Input.Chunks != nil:
		return l.Input.Chunks
	case l.Input.Base64 != nil:
		var out []string
		for _, c := range l.Input.Base64 {
			b, err := base64.StdEncoding.DecodeString(c)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(b))
		}
		return []string{strings.ToValidUTF8(strings.Join(out, ""), "\uFFFD")}
	}
	return []string{l.Input.Text}
}

func catalogOf(list []json.RawMessage, known bool) *tools.Catalog {
	if !known {
		return tools.OpenCatalog(shipped.Tools)
	}
	var offered []tools.Tool
	for _, raw := range list {
		var name string
		if json.Unmarshal(raw, &name) == nil {
			offered = append(offered, tools.Tool{Name: name})
			continue
		}
		var o struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
			Function   struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"function"`
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			panic(err)
		}
		if o.Function.Name != "" {
			o.Name, o.Parameters = o.Function.Name, o.Function.Parameters
		}
		offered = append(offered, tools.Tool{Name: o.Name, Parameters: o.Parameters})
	}
	return tools.NewCatalog(shipped.Tools, nil, offered)
}

func readPieces(s *parse.Strategies, c *tools.Catalog, pieces []string, finish string) parse.Reading {
	return readAs(s, c, facts(), pieces, finish)
}

// facts are those that every reading may know: the words of the shipped rules.
func facts() parse.Facts { return shipped.Facts("", "", "") }

func readAs(s *parse.Strategies, c *tools.Catalog, f parse.Facts, pieces []string,
	finish string) parse.Reading {
	r := s.Reader(c, f)
	for _, p := range pieces {
		r.Feed(parse.Delta{Content: p})
	}
	got, _ := r.Close(finish)
	return got
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

func sameCall(got tools.Call, want wantCall) bool {
	if got.Name != want.Name {
		return false
	}
	var g any
	if json.Unmarshal(got.Arguments, &g) != nil {
		return false
	}
	object, _ := g.(map[string]any)
	switch {
	case want.Text != nil || want.Raw != nil:
		text := want.Text
		if text == nil {
			text = want.Raw
		}
		if len(object) != 1 {
			return false
		}
		for _, v := range object {
			return strings.TrimSpace(fmt.Sprint(v)) == strings.TrimSpace(*text)
		}
	case want.Subset != nil:
		var sub map[string]any
		json.Unmarshal(want.Subset, &sub)
		for k := range sub {
			if _, ok := object[k]; !ok {
				return false
			}
		}
		return true
	case want.Arguments != nil:
		var w any
		json.Unmarshal(want.Arguments, &w)
		return reflect.DeepEqual(g, w)
	}
	return true
}

// sameCalls compares calls in order; optional ones may be there.
func sameCalls(got []tools.Call, want, optional []wantCall) bool {
	i := 0
	for _, g := range got {
		if i < len(want) && sameCall(g, want[i]) {
			i++
			continue
		}
		ok := false
		for _, o := range optional {
			ok = ok || sameCall(g, o)
		}
		if !ok {
			return false
		}
	}
	return i == len(want)
}

// judge says what is wrong with a reading of a labelled case, or "".
func (l labelled) judge(got parse.Reading) string {
	if !sameCalls(got.Calls, l.Expect.Calls, l.Expect.Optional) {
		return "calls " + showCalls(got.Calls)
	}
	if l.Expect.Reasoning != nil && squeeze(got.Reasoning) != squeeze(strings.Join(l.Expect.Reasoning, "")) {
		return fmt.Sprintf("reasoning %q", got.Reasoning)
	}
	if l.Expect.Content != nil {
		for _, c := range append(l.Expect.Alternatives, l.Expect.Content) {
			if squeeze(got.Content) == squeeze(strings.Join(c, "")) {
				return ""
			}
		}
		return fmt.Sprintf("content %q", got.Content)
	}
	return ""
}

// claimed says that some shipped strategy reads the format of the case. The python
// tag of Llama, and tags that keep the call in attributes, are left to packs of
// rules: what is claimed must be read, what is not must not be read wrong.
func (l labelled) claimed() bool {
	return !slices.Contains(l.Tags, "fmt:python_tag") && !strings.Contains(l.Input.Text, "<tool_call name=")
}

func showCalls(calls []tools.Call) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%s%s ", c.Name, c.Arguments)
	}
	return b.String()
}

// tally counts the cases of each grade that were read rightly, and all of them.
type tally map[string][2]int

func (n tally) count(grade string, right bool) {
	c := n[grade]
	if c[1]++; right {
		c[0]++
	}
	n[grade] = c
}

func (n tally) String() string {
	return fmt.Sprintf("must %d/%d, should %d/%d, disputed %d/%d", n["must"][0], n["must"][1],
		n["should"][0], n["should"][1], n["disputed"][0], n["disputed"][1])
}

// testLabelled reads the cases of a file. Every must case that is claimed must be
// read rightly, and at least this share of the should cases.
func testLabelled(t *testing.T, s *parse.Strategies, file string, claimed func(labelled) bool,
	minShould float64) {
	n := tally{}
	for _, l := range testkit.Corpus[labelled](t, file) {
		pieces := l.pieces(t)
		got := readPieces(s, catalogOf(l.Input.Tools, l.Input.Tools != nil), pieces, "")
		wrong := l.judge(got)
		n.count(l.Grade, wrong == "")
		if wrong != "" && l.Grade == "must" && claimed(l) {
			t.Errorf("%s (must): %s", l.ID, wrong)
		} else if wrong != "" && os.Getenv("SHOW") != "" {
			t.Logf("%s (%s): %s\n\t%q refused %v", l.ID, l.Grade, wrong, strings.Join(pieces, ""),
				got.Refused)
		}
	}
	t.Logf("%s: %s", file, n)
	if got := float64(n["should"][0]) / float64(n["should"][1]); got < minShould {
		t.Errorf("%s: %.1f %% of the should cases, want %.0f %%", file, 100*got, 100*minShould)
	}
}

func TestCorpusHarmony(t *testing.T) {
	testLabelled(t, shipped.Strategies(""), "harmony", labelled.claimed, 0.90)
}

func TestCorpusReAct(t *testing.T) {
	testLabelled(t, shipped.Strategies(""), "react", labelled.claimed, 0.90)
}

func TestCorpusMarkers(t *testing.T) {
	testLabelled(t, shipped.Strategies(""), "markers", labelled.claimed, 0.60)
}
