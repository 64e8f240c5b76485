package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSaid(t *testing.T) {
	text := func(s string) string { return string(AppendString(nil, s)) }
	const start = "Working directory: "
	for name, c := range map[string]struct {
		messages string
		want     []string
	}{
		"a system message": {`{"role":"system","content":` +
			text("Hi.\nWorking directory: /srv/a\nmore") + `},{"role":"user","content":"x"}`,
			[]string{"/srv/a\nmore"}},
		"a developer message": {`{"role":"developer","content":` + text("Working directory: /srv/ä") +
			`},{"role":"user","content":"x"}`, []string{"/srv/ä"}},
		"parts": {`{"role":"system","content":[{"type":"text","text":"a"},{"type":"text","text":"Working directory: /srv/a"}]},{"role":"user","content":"x"}`, []string{"/srv/a"}},
		"the second of two": {`{"role":"system","content":"a"},{"role":"system","content":` +
			text("x\nWorking directory: /b") + `}`, []string{"/b"}},
		"twice": {`{"role":"system","content":` +
			text("Working directory: /a\nWorking directory: /b") + `}`, []string{"/a\nWorking directory: /b",
			"/b"}},
		"a user":           {`{"role":"user","content":"Working directory: /srv/a"}`, nil},
		"behind a user":    {`{"role":"user","content":"x"},{"role":"system","content":"Working directory: /srv/a"}`, nil},
		"a tool":           {`{"role":"tool","tool_call_id":"1","content":"Working directory: /srv/a"}`, nil},
		"not at the start": {`{"role":"system","content":"The Working directory: /srv/a"}`, nil},
		"an n behind a backslash": {`{"role":"system","content":` + text(`c:\nWorking directory: /srv/a`) +
			`}`, nil},
		"a backslash and a break": {`{"role":"system","content":` + text("c:\\\nWorking directory: /srv/a") +
			`}`, []string{"/srv/a"}},
		"no text":                  {`{"role":"system","content":null},{"role":"user","content":"x"}`, nil},
		"nothing behind it":        {`{"role":"system","content":"Working directory: "}`, []string{""}},
		"another message is first": {`{"role":"assistant","content":"Working directory: /a"},{"role":"system","content":"Working directory: /b"}`, nil},
	} {
		q, err := ParseRequest([]byte(`{"model":"m","messages":[` + c.messages + `]}`))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, all := q.Instructed(start, 200)
		if diff := cmp.Diff(c.want, got); diff != "" || !all {
			t.Errorf("%s: %v %s", name, all, diff)
		}
	}
}

// Who says it too often is not heard to the end, and that is said.
func TestSaidTooOften(t *testing.T) {
	for n, want := range map[int]bool{maxInstructed: true, maxInstructed + 1: false, 1000: false} {
		line := `"` + strings.Repeat(`Working directory: /a\n`, n) + `"`
		for _, content := range []string{line, `[{"type":"text","text":` + line + `}]`} {
			q, err := ParseRequest([]byte(`{"model":"m","messages":[{"role":"system","content":` + content +
				`}]}`))
			if err != nil {
				t.Fatal(err)
			}
			if texts, all := q.Instructed("Working directory: ", 10); len(texts) != maxInstructed || all != want {
				t.Errorf("%d times: %d texts, all %v", n, len(texts), all)
			}
		}
	}
}

// A text and a part with that text say the same.
func FuzzSaid(f *testing.F) {
	f.Add("x\nWorking directory: /a b\nWorking directory: c", 7)
	f.Add("\\nWorking directory: ü", 2)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = max(0, min(most, 1000))
		content, err := json.Marshal(strings.ToValidUTF8(text, "?"))
		if err != nil {
			t.Fatal(err)
		}
		said := func(content string) []string {
			q, err := ParseRequest([]byte(`{"model":"m","messages":[{"role":"system","content":` + content +
				`}]}`))
			if err != nil {
				t.Fatal(err)
			}
			texts, _ := q.Instructed("Working directory: ", most)
			return texts
		}
		whole, part := said(string(content)), said(`[{"type":"text","text":`+string(content)+`}]`)
		if diff := cmp.Diff(part, whole); diff != "" {
			t.Error(diff)
		}
	})
}
