package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/jgavinray/gpt-oss-executor/internal/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/console/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/journal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// kept are settings with a log, runs and tokens, and what they are.
func kept(t *testing.T, s *config.Settings) func(*config.Settings) {
	return stage.Kept(t, func(of *config.Settings) {
		stage.Tokens(of)
		*s = *of
	})
}

// errand is a run that writes a file and answers.
func errand() script.Scenario {
	return script.Scenario{Name: "errand", Steps: []script.Reply{
		script.Native("write", `{"path":"notes.md","content":"Meeting at ten."}`).Thinking("I write it down first."),
		script.Native("read", `{"path":"missing.md"}`),
		script.Text("The note is written.").Thinking("That is all."),
	}}
}

// broken writes the journal of a run that a crash has broken off: a file was written, and another
// call was about to change something.
func broken(t *testing.T, state, id string, last ...journal.Record) {
	t.Helper()
	j, err := journal.Open(journal.Config{Dir: filepath.Join(state, service.RunsFolder), Now: time.Now})
	ruletest.Must(t, err)
	request, err := json.Marshal(map[string]any{"model": "executor", "messages": []map[string]string{{"role": "user", "content": "go on: tidy the notes of june and tell me what is open"}}})
	ruletest.Must(t, err)
	r, err := j.Begin(journal.Begin{ID: id, Model: "executor", Session: "june", Rules: "000000000000", Sum: "sum-" + id, Request: request})
	ruletest.Must(t, err)
	for _, rec := range append([]journal.Record{
		{Turn: &journal.Turn{N: 1, Reasoning: "The notes first.", Calls: []journal.Wrote{
			{ID: "c1", Tool: "read", Arguments: `{"path":"june.md"}`}, {ID: "c2", Tool: "write", Arguments: `{"path":"open.md","content":"- the lift"}`},
		}, Prompt: 1200, Answer: 80}},
		{Call: &journal.Call{ID: "c1", Tool: "read", Does: "read: june.md"}},
		{Result: &journal.Result{ID: "c1", Text: strings.Repeat("- call about the lift\n", 400), Took: 3}},
		{Call: &journal.Call{ID: "c2", Tool: "write", Does: "write: open.md", Changes: true}},
	}, last...) {
		ruletest.Must(t, r.Add(rec))
	}
	ruletest.Must(t, r.Close())
}

// gate holds the requests of a model server that have words in them.
type gate struct {
	http.Handler
	words string
	open  chan struct{}
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := peek(r)
	if err == nil && strings.Contains(body, g.words) {
		select {
		case <-g.open:
		case <-r.Context().Done():
		}
	}
	g.Handler.ServeHTTP(w, r)
}

// Every page of what was decided and done, at each size and in each scheme.
func TestPastPages(t *testing.T) {
	var settings config.Settings
	change := kept(t, &settings)
	change(&config.Settings{})
	broken(t, settings.State, "runBroken1")
	s := stage.Open(t, change, stage.Model(replies(), errand()))
	morning(s)
	s.Run("morning", "errand")
	b := open(t, s)
	b.signIn("Sam", stage.Admin)
	b.to("/console/decisions?effect=deny")
	denied := eval[string](b, `document.querySelector("[data-item]")?.getAttribute("href") ?? ""`)
	b.to("/console/decisions?tool=write")
	asked := eval[string](b, `document.querySelector("[data-item]")?.getAttribute("href") ?? ""`)
	b.to("/console/runs?q=errand")
	run := eval[string](b, `document.querySelector("[data-item]")?.getAttribute("href") ?? ""`)
	for _, page := range []struct{ name, path string }{
		{"decisions", "/console/decisions"}, {"decisions-filtered", "/console/decisions?from=2h&tool=exec"}, {"decision-denied", denied}, {"decision-asked", asked},
		{"decisions-none", "/console/decisions?q=nothing+such"}, {"replay", "/console/decisions/replay?effect=deny"}, {"verify", "/console/decisions/verify"},
		{"runs", "/console/runs"}, {"run", run}, {"run-broken", "/console/runs/runBroken1"},
	} {
		b.to(page.path)
		b.looks(page.name, b.legible)
	}
	b.to("/console/decisions/verify")
	b.do(chromedp.Click(".draft button"))
	b.soon(`document.querySelector("#found") !== null && document.documentElement.dataset.ready === ""`)
	b.looks("verified", b.legible)
	b.to("/console/decisions/replay")
	eval[string](b, allowAll)
	b.do(chromedp.Click(`button[value="draft"]`))
	b.soon(`document.querySelector(".changed") !== null && document.documentElement.dataset.ready === ""`)
	b.looks("replayed", b.legible)
	eval[string](b, `document.getElementById("draft").value = "version: 1\nprofile: developr\n"`)
	b.do(chromedp.Click(`button[value="draft"]`))
	b.soon(`document.querySelector(".problems") !== null && document.documentElement.dataset.ready === ""`)
	b.looks("replay-problems", b.legible)
}

// allowAll makes a draft of the rules in force that denies and asks nothing.
const allowAll = `document.getElementById("draft").value = document.getElementById("draft").value.replace(/^profile: .*$/m, "profile: permissive").replaceAll(/^ +- id: destroy[^]*?(?=^ +- id: )/gm, "")`

var _ = decisions.Verify
var _ = os.ReadFile
var _ = fmt.Sprint
