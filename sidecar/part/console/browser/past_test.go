package browser

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
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
func broken(t *testing.T, state, id string, last ...run.JournalRecord) {
	t.Helper()
	j, err := run.OpenJournal(run.JournalConfig{Dir: filepath.Join(state, run.Folder), Now: time.Now})
	ruletest.Must(t, err)
	request, err := json.Marshal(map[string]any{"model": "executor",
		"messages": []map[string]string{{"role": "user",
			"content": "go on: tidy the notes of june and tell me what is open"}}})
	ruletest.Must(t, err)
	r, err := j.Begin(run.BeginRecord{ID: id, Model: "executor", Session: "june", Rules: "000000000000",
		Sum: "sum-" + id, Request: request})
	ruletest.Must(t, err)
	for _, rec := range append([]run.JournalRecord{
		{Turn: &run.TurnRecord{N: 1, Reasoning: "The notes first.", Calls: []run.RequestedCall{
			{ID: "c1", Tool: "read", Arguments: `{"path":"june.md"}`}, {ID: "c2", Tool: "write", Arguments: `{"path":"open.md","content":"- the lift"}`},
		}, Prompt: 1200, Answer: 80}},
		{Call: &run.CallRecord{ID: "c1", Tool: "read", Does: "read: june.md"}},
		{Result: &run.ResultRecord{ID: "c1", Text: strings.Repeat("- call about the lift\n", 400), Took: 3}},
		{Call: &run.CallRecord{ID: "c2", Tool: "write", Does: "write: open.md", Changes: true}},
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
	t.Parallel()
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
	b.soon(`document.querySelector("#found") !== null && document.documentElement?.dataset.ready === ""`)
	b.looks("verified", b.legible)
	b.to("/console/decisions/replay")
	eval[string](b, allowAll)
	b.do(chromedp.Click(`button[value="draft"]`))
	b.soon(`document.querySelector(".changed") !== null && document.documentElement?.dataset.ready === ""`)
	b.looks("replayed", b.legible)
	eval[string](b, `document.getElementById("draft").value = "version: 1\nprofile: developr\n"`)
	b.do(chromedp.Click(`button[value="draft"]`))
	b.soon(`document.querySelector(".problems") !== null && document.documentElement?.dataset.ready === ""`)
	b.looks("replay-problems", b.legible)
}

// allowAll makes a draft of the rules in force that denies and asks nothing.
const allowAll = `document.getElementById("draft").value = document.getElementById("draft").value.replace(/^profile: .*$/m, "profile: permissive").replaceAll(/^ +- id: destroy[^]*?(?=^ +- id: )/gm, "")`

// A denied call is found by the keyboard, opened, and replayed against a draft that lets it pass: the page
// says what would change.
func TestReplayJourney(t *testing.T) {
	t.Parallel()
	var settings config.Settings
	s := stage.Open(t, kept(t, &settings),
		stage.Model(replies(), script.Scenario{Name: "stop",
			Steps: []script.Reply{script.Native("exec", `{"command":"shutdown -h now"}`),
				script.Text("I may not.")}}))
	morning(s)
	s.Ask("june", "stop", false)
	b := open(t, s)
	b.signIn("Sam", stage.Reader)
	b.keys("g", "d")
	b.at("Decisions")
	b.keys("\t") // the focus is in the page
	b.do(chromedp.Focus("#effect"))
	b.keys("deny")
	b.soon(`document.getElementById("effect").value === "deny"`)
	b.keys("\t", "\r") // Filter
	b.soon(`location.search.includes("effect=deny") && document.documentElement?.dataset.ready === ""`)
	if n := eval[int](b, `document.querySelectorAll(".decided tbody tr:not([data-effect=deny])").length`); n > 0 {
		t.Errorf("%d others are listed", n)
	}
	b.keys("j", "\r")
	b.at("Decision ")
	if text := eval[string](b, "document.body.innerText"); !strings.Contains(text, "power") ||
		!strings.Contains(text, "shutdown -h now") {
		t.Errorf("it says %s", text)
	}
	b.keys("u")
	b.at("Decisions")
	b.to("/console/decisions?effect=deny")
	b.do(chromedp.Focus("[data-replay]"))
	b.keys("\r")
	b.at("Replay")
	b.keys("/")
	b.soon(`document.activeElement.id === "draft"`)
	eval[string](b, `document.getElementById("draft").value = `+
		"`version: 1\nprofile: developer\nasks: sidecar\nrules:\n  - id: may-stop\n    allow: Maintenance.\n    when: cmd.binary == 'shutdown'\n`"+``)
	b.keys("\t", "\r") // out of the draft, to its button
	b.soon(`document.querySelector(".changed tbody tr") !== null && document.documentElement?.dataset.ready === ""`)
	said := eval[string](b, `document.querySelector("[data-result]").innerText.replaceAll(/\s+/g, " ")`)
	for _, want := range []string{"1 decision of 3 would change", "1 newly allowed", "power → may-stop",
		"deny → allow"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %s: %s", want, said)
		}
	}
	if s.Log.Count("rules_taken") > 0 || s.Log.Count("rules_refused") > 0 {
		t.Error("the rules are other ones")
	}
}

// Somebody has changed the log: Verify says in which record, and leads there.
func TestTamperedJourney(t *testing.T) {
	t.Parallel()
	var settings config.Settings
	s := stage.Open(t, kept(t, &settings), stage.Model(replies()))
	morning(s)
	b := open(t, s)
	b.signIn("Sam", stage.Reader)
	b.to("/console/decisions")
	b.do(chromedp.Focus(`form[action$="verify"] button`))
	b.keys("\r")
	b.at("Verify")
	b.soon(`document.getElementById("found")?.textContent === "The chain holds"`)
	files, err := filepath.Glob(filepath.Join(settings.Decisions, "0*.jsonl"))
	ruletest.Must(t, err)
	text, err := os.ReadFile(files[0])
	ruletest.Must(t, err)
	ruletest.Must(t, os.WriteFile(files[0], bytes.Replace(text, []byte("rm -rf /"), []byte("ls -lha /"), 1),
		0o600))
	b.do(chromedp.Click(".draft button"))
	b.soon(`document.getElementById("found")?.textContent.startsWith("The chain is broken") === true && document.documentElement?.dataset.ready === ""`)
	b.looks("broken", b.legible)
	b.keys("j", "\r")
	b.at("Decision ")
	if said := eval[string](b, `document.querySelector("[role=alert]").innerText`); !strings.Contains(said,
		"it was changed") {
		t.Errorf("it says %s", said)
	}
	b.looks("changed", b.legible)
}

// While a run goes on its turns appear on its page, and it comes to its end there.
func TestRunJourney(t *testing.T) {
	t.Parallel()
	g := &gate{Handler: stage.Model(nil, errand()), words: "missing.md", open: make(chan struct{})}
	var settings config.Settings
	s := stage.Open(t, kept(t, &settings), g)
	b := open(t, s)
	b.signIn("Sam", stage.Reader)
	b.keys("g", "x")
	b.at("Runs")
	ended := make(chan string, 1)
	go func() { ended <- s.Run("june", "errand") }()
	b.soon(`document.querySelector("[data-state=running]") !== null`)
	b.keys("j", "\r")
	b.at("Run of")
	b.soon(`document.querySelectorAll(".step").length === 2 && document.querySelector(".going") !== null`)
	b.looks("run-going", b.legible)
	b.do(chromedp.EmulateViewport(1280, 800))
	close(g.open)
	b.soon(`document.querySelectorAll(".step").length === 3 && document.querySelector(".r-answered") !== null && document.body.innerText.includes("The note is written.")`)
	if answer := <-ended; !strings.Contains(answer, "The note is written.") {
		t.Errorf("the caller got %s", answer)
	}
}

// An admin resumes a run that was broken off, and sees it come to its end; what was in doubt is not run.
func TestResumeJourney(t *testing.T) {
	t.Parallel()
	var settings config.Settings
	change := kept(t, &settings)
	change(&config.Settings{})
	broken(t, settings.State, "runBroken1")
	s := stage.Open(t, change,
		stage.Model(map[string]script.Reply{"go on: tidy the notes of june and tell me what is open": script.Text("The lift is open.")}))
	b := open(t, s)
	b.signIn("Sam", stage.Admin)
	b.to("/console/runs?state=broken-off")
	b.keys("j", "\r")
	b.at("Run of")
	b.do(chromedp.Focus("#resume-button"))
	b.keys("\r")
	b.soon(`document.querySelector(".r-answered") !== null && document.body.innerText.includes("The lift is open.")`)
	b.looks("resumed", b.legible)
	if text := eval[string](b, "document.body.innerText"); !strings.Contains(text,
		"as Sam (console, token of an admin) wanted") || !strings.Contains(text, "in-doubt") {
		t.Errorf("it says %s", text)
	}
	if lines := s.Log.Lines("run_resumed"); len(lines) != 1 ||
		!strings.Contains(lines[0], "Sam (console, token of an admin)") {
		t.Errorf("the log says %q", lines)
	}
	if _, err := os.Stat(filepath.Join(settings.Workspace, "open.md")); err == nil {
		t.Error("what was in doubt was run")
	}
}

// The focus goes over a list, a draft and a run in the order in which people read them.
func TestPastFocus(t *testing.T) {
	t.Parallel()
	var settings config.Settings
	change := kept(t, &settings)
	change(&config.Settings{})
	broken(t, settings.State, "runBroken1")
	s := stage.Open(t, change, stage.Model(replies()))
	s.Ask("may", "list", false)
	b := open(t, s)
	b.signIn("Sam", stage.Admin)
	for path, want := range map[string]string{
		"/console/decisions":         "Verify the chain, Replay them, Words that a decision mu, Decision, Filter, More filters, decision 2: allow exec",
		"/console/decisions/replay":  "← Decisions, Rules in force, Draft of exec.yaml inste, Replay against the draft",
		"/console/runs/runBroken1":   "← Runs, the task, Its decisions in the log, Resume, reasoning, result of read",
		"/console/decisions?tool=ex": "Verify the chain, Replay these, Words that a decision mu, Decision, Filter, More filters, Rule, Tool, Session, Agent, From, To",
	} {
		b.to(path)
		b.do(chromedp.Focus("[data-help]"))
		if got := b.stops(strings.Count(want, ", ") + 1); got != want {
			t.Errorf("%s: the focus goes\n%s\nwant\n%s", path, got, want)
		}
	}
}

// Whatever the log and the journal hold, no script of it runs.
func TestPastScripts(t *testing.T) {
	t.Parallel()
	const evil = `"><script>document.title='owned'</script><img src=x onerror="document.title='owned'"><svg onload="document.title='owned'">`
	var settings config.Settings
	change := kept(t, &settings)
	change(&config.Settings{})
	l, err := decisions.Open(decisions.Config{Dir: settings.Decisions})
	ruletest.Must(t, err)
	args, err := json.Marshal(map[string]string{"command": evil})
	ruletest.Must(t, err)
	for range 2 {
		ruletest.Must(t, l.Add(decisions.Decision{Tool: evil, Session: evil, Agent: evil, Request: evil,
			Approval: evil, Rule: evil, Place: evil, Why: evil, Instead: evil, Rules: evil, Arguments: args,
			Effect: "deny"}))
	}
	ruletest.Must(t, l.Close())
	broken(t, settings.State, "runEvil",
		run.JournalRecord{Turn: &run.TurnRecord{N: 2, Content: evil, Reasoning: evil,
			Calls: []run.RequestedCall{{ID: "e", Tool: evil, Arguments: string(args)}}}},
		run.JournalRecord{Result: &run.ResultRecord{ID: "e", Text: evil}},
		run.JournalRecord{End: &run.EndRecord{Status: run.Failed, Text: evil}})
	s := stage.Open(t, change, stage.Model(nil))
	b := open(t, s)
	b.signIn(evil, stage.Admin)
	for _, path := range []string{"/console/decisions", "/console/decisions/2", "/console/decisions/3",
		"/console/decisions/replay?rule=" + url.QueryEscape(evil), "/console/runs", "/console/runs/runEvil"} {
		b.to(path)
		b.clean(path)
	}
	b.to("/console/decisions/replay")
	b.do(chromedp.Click(`button[value="now"]`))
	b.soon(`document.querySelector("[data-result]") !== null && document.documentElement?.dataset.ready === ""`)
	b.clean("replay")
}
