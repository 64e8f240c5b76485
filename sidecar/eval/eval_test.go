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

	"github.com/jgavinray/gpt-oss-executor/internal/corpus"
	"github.com/jgavinray/gpt-oss-executor/internal/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

// What was made is compared with what was wanted, as the label says it.
func TestJudge(t *testing.T) {
	read := `"message":{"content":"","tool_calls":[{"id":"c","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},"tools":["read","grep"]`
	text := func(s string) string { return fmt.Sprintf(`"message":{"content":%q},"tools":["read"]`, s) }
	for _, row := range []struct{ reply, expect, want string }{
		{read, `{"calls":[{"name":"read","arguments":{"path":"a"}}]}`, "right"},
		{read, `{"calls":[{"name":"read"}]}`, "right"},
		{read, `{"calls":[{"name":"read","arguments":{"path":"b"}}]}`, "FALSE CALL"},
		{read, `{"calls":[]}`, "FALSE CALL"},
		{read, `{"calls":[],"accept":[{"calls":[{"name":"read","arguments":{"path":"a"}}]}]}`, "right"},
		{read, `{"calls":[{"name":"read","arguments":{"path":"a"}},{"name":"read","arguments":{"path":"a"}}]}`, "wrong"},
		{text("Hello."), `{"calls":[],"content":"Hello."}`, "right"},
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
	for _, expect := range []string{`null`, `{}`, `{"tool_calls":[{"name":"read"}]}`, `{"leak_free":false}`, `{"calls":null}`} {
		c, err := Parse([]byte(`{"message":{"content":"Hello."},"tools":["read"],"expect":`+expect+`}`), "f:1")
		ruletest.Must(t, err)
		if c.Want != nil {
			t.Errorf("%s: labelled", expect)
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
	for i, raw := range corpus.Load[json.RawMessage](t, "gptoss") {
		c, err := Parse(raw, fmt.Sprintf("gptoss:%d", i+1))
		ruletest.Must(t, err)
		row, sums, err := Run(&c, variants, guard.World{})
		ruletest.Must(t, err)
		r.Add(row, sums)
	}
	r.Finish()
	t.Logf("%d cases with 4 variants in %s", r.Cases, time.Since(began))
	a := r.Variants[0]
	if a.Right < a.Labelled*95/100 || a.FalseCalls > 0 || r.Variants[1].Right >= a.Right || len(r.Pairs) != 6 || r.Pairs[1].OnlyA != 0 || r.Pairs[1].P != 1 {
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
