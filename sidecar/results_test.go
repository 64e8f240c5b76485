package sidecar

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run/executor"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A long result that the gateway sends reaches the model shortened, and always in the same
// way, so that the server finds its prompt cache.
func TestResultsOfTheGateway(t *testing.T) {
	long := strings.Repeat("a line of a long log\n", 5000) // 105,000 characters
	quoted, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	parts := `[{"type":"text","text":` + string(quoted) + `},{"type":"text","text":"short"}]`
	for name, content := range map[string]string{"a text": string(quoted), "parts": parts} {
		messages := `[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"exec","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":` + content + `}`
		r := play(t, script.Text("ok"), script.Text("ok"))
		r.chat(`{"model":"gpt-oss",` + bothTool + `,"messages":` + messages + `]}`)
		r.chat(`{"model":"gpt-oss",` + bothTool + `,"messages":` + messages +
			`,{"role":"assistant","content":"ok"},{"role":"user","content":"and now?"}]}`)
		asked := r.model.Requests("")
		first, second := asked[0].Messages[2], asked[1].Messages[2]
		if n := len([]rune(first.Text)); n > 40000+len("short") || n < 39000 ||
			!strings.Contains(first.Text, "of 105000 characters left out") ||
			!strings.HasPrefix(first.Text, "a line of a long log\n") {
			t.Errorf("%s: %d characters: %.200s", name, n, first.Text)
		}
		if string(first.Raw) != string(second.Raw) {
			t.Errorf("%s: the same result is shortened in two ways", name)
		}
	}
	r := play(t, script.Text("ok"))
	short := `{"model":"gpt-oss",` + bothTool +
		`,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"exec","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"short"}]}`
	r.chat(short)
	if got := string(r.model.Requests("")[0].Body); !strings.Contains(got, `"content":"short"`) {
		t.Errorf("a short result was changed: %s", got)
	}
}

// The results of a run are shortened before the model reads them; JSON stays JSON.
func TestResultsOfARun(t *testing.T) {
	var results []map[string]string
	for range 20 {
		results = append(results, map[string]string{"url": "https://example.com/" + strings.Repeat("p", 60),
			"snippet": strings.Repeat("word ", 100)})
	}
	doc, err := json.Marshal(map[string]any{"results": results})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{result: func(string, int) tools.Result { return tools.Result{Text: string(doc)} }}
	set := *ruletest.Shipped(t, sections()...)
	r := start(t, setup{set: &set, sources: []executor.Source{b}},
		script.New(script.Scenario{Steps: []script.Reply{script.Native("web_search", `{"query":"news"}`),
			script.Text("ok")}}))
	if a := r.run(false, ""); a.text != "ok" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	asked := r.model.Requests("")
	text := asked[1].Messages[len(asked[1].Messages)-1].Text
	var said struct{ Results []any }
	if err := json.Unmarshal([]byte(text), &said); err != nil || len([]rune(text)) > 2000 ||
		len(said.Results) < 4 ||
		!strings.Contains(text, `"https://example.com/`+strings.Repeat("p", 60)+`"`) {
		t.Errorf("%d characters, %d results, %v: %s", len(text), len(said.Results), err, text)
	}
}
