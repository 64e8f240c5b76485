package eval

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

// What was made is compared with what was wanted, as the label says it.
func TestJudge(t *testing.T) {
	read := `"message":{"content":"","tool_calls":[{"id":"c","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},"tools":["read","grep"]`
	counted := `"message":{"content":"","tool_calls":[{"id":"c","function":{"name":"read","arguments":"{\"path\":\"a\",\"limit\":5,\"n\":12345678901234567891}"}}]},"tools":["read"]`
	thought := `"message":{"content":"Hi.","reasoning_content":"I wonder."},"tools":["read"]`
	absent := `"message":{"content":"","tool_calls":[{"id":"c","function":{"name":"grep","arguments":"{}"}}]},"tools":["read"]`
	text := func(s string) string { return fmt.Sprintf(`"message":{"content":%q},"tools":["read"]`, s) }
	for _, row := range []struct{ reply, expect, want string }{
		{read, `{"calls":[{"name":"read","arguments":{"path":"a"}}]}`, "right"},
		{read, `{"calls":[{"name":"read"}]}`, "right"},
		{read, `{"calls":[{"name":"read","arguments":{"path":"b"}}]}`, "FALSE CALL"},
		{read, `{"calls":[]}`, "FALSE CALL"},
		{read, `{"calls":[],"accept":[{"calls":[{"name":"read","arguments":{"path":"a"}}]}]}`, "right"},
		{read, `{"calls":[{"name":"read","arguments":{"path":"a"}},{"name":"read","arguments":{"path":"a"}}]}`, "wrong"},
		{text("Hello."), `{"calls":[],"content":" Hel\nlo."}`, "right"},
		{counted, `{"calls":[{"name":"read","arguments":{"n":12345678901234567891,"path":"a","limit":5.0}}]}`, "right"},
		{counted, `{"calls":[{"name":"read","arguments":{"n":12345678901234567890,"path":"a","limit":5}}]}`, "FALSE CALL"},
		{text("Hello."), `{"calls":[{"name":"read"}]}`, "wrong"},
		{text("see [TOOL_CALLS] there"), `{"calls":[],"content":null,"leak_free":true}`, "leak"},
		{text("see [TOOL_CALLS] there"), `{"calls":[],"content_any":[null,"see [TOOL_CALLS] there"],"leak_free":true}`, "right"},
		{text("see [TOOL_CALLS] there"), `{"calls":[],"leak_free":true}`, "leak"},
		{text("see [TOOL_CALLS] there"), `{"leak_free":true}`, "leak"},
		{text("see [TOOL_CALLS] there"), `{"calls":[],"content":"x","accept":[{"calls":[]}],"leak_free":true}`, "leak"},
		{text("see [TOOL_CALLS] there"), `{"calls":[],"content":"x","accept":[{"calls":[],"content":"see [TOOL_CALLS] there"}],"leak_free":true}`, "right"},
		{text("Hello."), `{"content":"Bye."}`, "wrong"},
		{text("Hello."), `{"content":"Hello."}`, "right"},
		{text("Hello."), `{"calls":[],"content":"Bye."}`, "right"},
		{text("Hello."), `{"accept":[{"calls":[{"name":"read"}]}]}`, "wrong"},
		{read, `{"accept":[{"calls":[{"name":"read"}]}]}`, "right"},
		{thought, `{"calls":[],"reasoning":"I wonder."}`, "right"},
		{thought, `{"calls":[],"content":"Hi.","reasoning":"Bored."}`, "wrong thoughts"},
		{thought, `{"reasoning":""}`, "wrong thoughts"},
		{absent, `{"calls":[],"unresolved":[{"name":"grep"}]}`, "right"},
		{absent, `{"calls":[],"unresolved":[{"name":"find"}]}`, "not refused"},
		{text("Hello."), `{"calls":[],"unresolved":[{"name":"grep"}]}`, "not refused"},
		{read, `{"calls":[],"unresolved":[{"name":"grep"}],"accept":[{"calls":[{"name":"read"}]}]}`, "right"},
		// The form of parser tests: texts in pieces, and all that is said must hold.
		{read, `{"tool_calls":[{"name":"read","arguments":{"path":"a"}}],"content":[]}`, "right"},
		{read, `{"tool_calls":[{"name":"read","input_text":" a"}]}`, "right"},
		{read, `{"tool_calls":[{"name":"read","arguments_text":"b"}]}`, "FALSE CALL"},
		{read, `{"tool_calls":[{"name":"read","arguments_subset":{"path":"anything"}}]}`, "right"},
		{read, `{"tool_calls":[{"name":"read","arguments_subset":{"file":"a"}}]}`, "FALSE CALL"},
		{read, `{"tool_calls":[],"optional_tool_calls":[{"name":"read"}]}`, "right"},
		{read, `{"tool_calls":[{"name":"read","input_text":"b"}],"alternatives":[{"input_text":"a"}]}`, "right"},
		{thought, `{"tool_calls":[],"content":["H","i."],"reasoning":["I ","wonder."]}`, "right"},
		{thought, `{"tool_calls":[],"content":["Bye."],"content_alternatives":[[],["Hi."]]}`, "right"},
		{thought, `{"tool_calls":[],"content":["Bye."]}`, "wrong"},
		{thought, `{"tool_calls":[],"reasoning":["No."]}`, "wrong thoughts"},
		{text("see [TOOL_CALLS] there"), `{"tool_calls":[],"no_marker_leak":true}`, "leak"},
	} {
		c, err := Parse([]byte(`{"id":"x",`+row.reply+`,"expect":`+row.expect+`}`), "f:1")
		ruletest.Must(t, err)
		got, sums, err := Run(&c, []Variant{{Name: "v", Set: ruletest.Shipped(t)}}, guard.World{})
		ruletest.Must(t, err)
		if m := got.Made[0]; m.mark(true) != row.want || (sums[0].Right == 1) != (row.want == "right") {
			t.Errorf("%s, %s: %s, not %s (%s)", row.reply, row.expect, m.mark(true), row.want, m.shown())
		}
	}
}

// A label in words that nobody judges by is none: else every reading would be right.
func TestNothingToJudgeBy(t *testing.T) {
	for _, expect := range []string{`null`, `{}`, `{"messages":[{"role":"assistant"}]}`,
		`{"leak_free":false}`, `{"calls":null}`} {
		c, err := Parse([]byte(`{"message":{"content":"Hello."},"tools":["read"],"expect":`+expect+`}`),
			"f:1")
		ruletest.Must(t, err)
		if c.Want != nil {
			t.Errorf("%s: labelled", expect)
		}
	}
}

// What a label holds that nobody judges is told; what cannot be judged at all is an error.
func TestLabels(t *testing.T) {
	parse := func(expect string) (Case, error) {
		return Parse([]byte(`{"message":{"content":"Hello."},"expect":`+expect+`}`), "f:1")
	}
	for expect, want := range map[string]string{
		`{"calls":[],"alias":{},"error":"x"}`:       "alias error",
		`{"tool_calls":[],"deltas":[],"calls":[]}`:  "calls deltas",
		`{"reasoning":["a"],"messages":[]}`:         "messages",
		`{"nothing":1}`:                             "nothing",
		`{"calls":[],"content":"a","reasoning":""}`: "",
	} {
		c, err := parse(expect)
		ruletest.Must(t, err)
		if got := strings.Join(c.NotJudged, " "); got != want {
			t.Errorf("%s: %q is not judged, not %q", expect, got, want)
		}
	}
	for expect, want := range map[string]string{
		`{"calls":[{"function":{"name":"read"}}]}`:      "a call has no name",
		`{"accept":[{"calls":[{}]}]}`:                   "a call has no name",
		`{"tool_calls":[],"alternatives":[{}]}`:         "alternatives are other arguments of one call",
		`{"tool_calls":[],"content":[1]}`:               "f:1: expect: ",
		`{"calls":[{"name":"read"}],"unresolved":"no"}`: "f:1: expect: ",
	} {
		if _, err := parse(expect); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", expect, err)
		}
	}
}

// The labels of the other corpora are read as the tests of the reader read them: of Harmony all
// cases of which every parser is sure, and of ReAct. One of Harmony makes the same call twice, which is made
// once here.
func TestLabelsOfOtherCorpora(t *testing.T) {
	for file, grades := range map[string]map[string]float64{"harmony": {"must": 1, "should": 0.94},
		"react": {"must": 1, "should": 0.9}} {
		right, all := map[string]float64{}, map[string]float64{}
		for i, raw := range testkit.Corpus[json.RawMessage](t, file) {
			c, err := Parse(raw, fmt.Sprintf("%s:%d", file, i+1))
			ruletest.Must(t, err)
			var graded struct{ Grade string }
			ruletest.Must(t, json.Unmarshal(raw, &graded))
			row, _, err := Run(&c, []Variant{{Name: "v", Set: ruletest.Shipped(t)}}, guard.World{})
			ruletest.Must(t, err)
			all[graded.Grade]++
			right[graded.Grade] += float64(count(row.Made[0].Right))
		}
		for grade, least := range grades {
			if all[grade] == 0 || right[grade]/all[grade] < least {
				t.Errorf("%s: %g of %g %s cases are right", file, right[grade], all[grade], grade)
			}
		}
	}
}

// Every development case is read with four variants in less than ten seconds, and JUnit and
// HTML of it are whole.
func TestCorpusWithFourVariants(t *testing.T) {
	set := ruletest.Shipped(t)
	variants := []Variant{{"a", set, ""}, {"b", set, "native"}, {"c", set, ""}, {"d", set, ""}}
	r := NewReport(variants)
	began := time.Now()
	for i, raw := range testkit.Corpus[json.RawMessage](t, "gptoss") {
		c, err := Parse(raw, fmt.Sprintf("gptoss:%d", i+1))
		ruletest.Must(t, err)
		row, sums, err := Run(&c, variants, guard.World{})
		ruletest.Must(t, err)
		r.Add(row, sums)
	}
	r.Finish()
	t.Logf("%d cases with 4 variants in %s", r.Cases, time.Since(began))
	a := r.Variants[0]
	if a.Right < a.Labelled*95/100 || a.FalseCalls > 0 || r.Variants[1].Right >= a.Right ||
		len(r.Pairs) != 6 || r.Pairs[1].OnlyA != 0 || r.Pairs[1].P != 1 {
		t.Errorf("%+v %+v", a, r.Pairs)
	}
	var out bytes.Buffer
	ruletest.Must(t, r.JUnit(&out))
	cases := 0
	for dec := xml.NewDecoder(&out); ; {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		ruletest.Must(t, err)
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "testcase" {
			cases++
		}
	}
	if cases != 4*r.Cases {
		t.Errorf("%d test cases", cases)
	}
	out.Reset()
	ruletest.Must(t, r.HTML(&out))
	for _, never := range []string{"<script", "http://", "https://", "src="} {
		head, _, _ := strings.Cut(out.String(), "<h2>Cases")
		if strings.Contains(head, never) {
			t.Errorf("the page holds %s", never)
		}
	}
}

// Whatever a line holds, reading it ends, with a case or with a place.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"id":"x","message":{"content":"a"},"expect":{"calls":[{"name":"read","arguments":{}}],"accept":[{"calls":[]}]}}`))
	f.Add([]byte(`{"expect":null}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		c, err := Parse(line, "f:7")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:7: ") {
				t.Errorf("no place: %v", err)
			}
			return
		}
		if c.ID == "" || c.Record == nil {
			t.Errorf("%+v", c)
		}
	})
}
