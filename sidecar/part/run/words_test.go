package run_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A server that cannot call tools is told of them in each turn of a run, in the style that suits it.
func TestStylesInRuns(t *testing.T) {
	for name, at := range map[string]string{"one that obeys": "response_format.json_schema.schema",
		"one that ignores": ""} {
		for _, streamed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, streamed %v", name, streamed), func(t *testing.T) {
				b, s := &provider.Source{}, &servers.Plain{At: at}
				r := executor.Serve(t, b, nil, s.Model())
				if a := r.Run(streamed, ""); a.Text != "It is calm." || a.Status != http.StatusOK {
					t.Errorf("%d %q %s", a.Status, a.Text, a.Body)
				}
				if got := b.Calls(); len(got) != 1 || got[0] != `read {"path": "notes.md"}` {
					t.Errorf("%q", got)
				}
			})
		}
	}
}

// Results of a run are edited before they are shortened, and what the guard says is not.
func TestEditsOfARun(t *testing.T) {
	b := &provider.Source{Result: func(string,
		int) tools.Result {
		return tools.Result{Text: "key-12 " + strings.Repeat("x", 20000)}
	}}
	files, err := ruletest.Source(t, "").Read()
	ruletest.Must(t, err)
	files["edits.yaml"] = "version: 1\n" + `results: [{id: keys, when: run, replace: [{find: 'x{1000}', with: ''}, {find: 'key-\d+', with: '[key]'}], note: Seen.}]`
	set, problems := ruletest.Loader(executor.Sections()...).LoadShipped(files)
	if set == nil {
		t.Fatal(problems)
	}
	r := executor.Start(t, provider.Setup{Set: set}, b, nil, script.New(script.Scenario{Steps: []script.Reply{script.Native("web_search",
		`{"query":"news"}`), script.Text("ok")}}))
	if a := r.Run(false, ""); a.Text != "ok" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	asked := r.Model.Requests("")[1].Messages
	if got := asked[len(asked)-1].Text; got != "[key] \n\nSeen." {
		t.Errorf("%.200q", got)
	}
	if log := r.Log.String(); !strings.Contains(log, `edits=keys`) {
		t.Errorf("the log does not say what was edited: %s", log)
	}
}
