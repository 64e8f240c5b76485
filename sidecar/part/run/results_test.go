package run_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

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
	b := &provider.Source{Result: func(string, int) tools.Result { return tools.Result{Text: string(doc)} }}
	set := *ruletest.Shipped(t, executor.Sections()...)
	r := executor.Start(t, provider.Setup{Set: &set}, b, nil,
		script.New(script.Scenario{Steps: []script.Reply{script.Native("web_search", `{"query":"news"}`),
			script.Text("ok")}}))
	if a := r.Run(false, ""); a.Text != "ok" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	asked := r.Model.Requests("")
	text := asked[1].Messages[len(asked[1].Messages)-1].Text
	var said struct{ Results []any }
	if err := json.Unmarshal([]byte(text), &said); err != nil || len([]rune(text)) > 2000 ||
		len(said.Results) < 4 ||
		!strings.Contains(text, `"https://example.com/`+strings.Repeat("p", 60)+`"`) {
		t.Errorf("%d characters, %d results, %v: %s", len(text), len(said.Results), err, text)
	}
}
