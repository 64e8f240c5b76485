package browser

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

const trials = `version: 1
experiments:
  - id: short-prompt
    about: Does the shorter prompt leave fewer answers empty?
    status: running
    arms:
      control: {share: 50}
      short: {share: 50, set: {prompt: short, limits.retry.times: 1}}
    measure: empty
    margin: 2
    guards: [{measure: failed, by: 1}, {measure: answer_ms}]
  - id: patience
    about: Is more time for a model worth it?
    status: running
    arms:
      control: {share: 50}
      patient: {share: 25, set: {limits.retry.within: 40s}}
      hurried: {share: 25, set: {limits.retry.within: 10s}}
    measure: failed
  - id: later
    about: Not begun.
    status: draft
    arms: {control: {share: 50}, new: {share: 50, set: {limits.retry.times: 2}}}
    measure: tool_ok
`

// afternoon is a folder of rules with experiments, and a state folder of a server that has run them for some
// hours.
func afternoon(t *testing.T) func(*config.Settings) {
	t.Helper()
	state := t.TempDir()
	return func(s *config.Settings) {
		stage.Tokens(s)
		s.State = state
		ruletest.Must(t, os.MkdirAll(filepath.Join(s.Rules, "extra"), 0o755))
		ruletest.Must(t, os.MkdirAll(filepath.Join(s.Rules, "prompts"), 0o755))
		ruletest.Must(t, os.WriteFile(filepath.Join(s.Rules, "extra", "experiments.ours.yaml"),
			[]byte(trials), 0o644))
		ruletest.Must(t, os.WriteFile(filepath.Join(s.Rules, "prompts", "short.txt"), []byte("Be short.\n"),
			0o644))
		files, err := ruletest.Source(t, "").Read()
		ruletest.Must(t, err)
		files["extra/experiments.ours.yaml"], files["prompts/short.txt"] = trials, "Be short.\n"
		set, problems := ruletest.Loader(experiment.Section()).Load(files)
		if set == nil {
			t.Fatal(problems)
		}
		now := time.Now().Add(-5 * time.Hour)
		l, err := experiment.OpenTracker(experiment.TrackerConfig{Path: filepath.Join(state, experiment.CountsFile),
			Now: func() time.Time { return now }, Metrics: telemetry.New(),
			Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
		ruletest.Must(t, err)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 3000 {
			assignment := l.Assign(set, fmt.Sprint("r", i), experiment.Asking{Session: fmt.Sprint("s", i)})
			chance := .22
			if strings.Contains(assignment.Arms(), "short-prompt/short") {
				chance = .10
			}
			o := turn.Outcome{Account: turn.Account{Model: "gpt-oss", Turns: 1, Completion: 80,
				Empty: r.Float64() < chance}, Took: time.Duration(700+r.IntN(900)) * time.Millisecond,
				Status: 200}
			if r.Float64() < .04 {
				o.Status = 502
			}
			assignment.Ended(&o)
			now = now.Add(6 * time.Second)
			if i%5 == 0 {
				l.Review(set)
			}
		}
		ruletest.Must(t, l.Close())
	}
}

// Every page of experiments and rules at each size and in each scheme.
func TestPagesOfRules(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, afternoon(t), stage.Model(replies()))
	morning(s)
	b := open(t, s)
	b.signIn("Sam", stage.Admin)
	ruletest.Edit(t, s.Rules, "limits.yaml", "depth: 128", "depth: 96")
	ruletest.Soon(t, "the edit is in force", func() bool { return s.Log.Count("rules_taken") > 0 })
	ruletest.Edit(t, s.Rules, "limits.yaml", "depth: 96", "depth: deep")
	ruletest.Soon(t, "the edit is refused", func() bool { return s.Log.Count("rules_refused") > 0 })
	b.to("/console/rules")
	past := eval[string](b, `document.querySelector(".past-rules a")?.getAttribute("href") ?? ""`)
	for _, page := range []struct{ name, path string }{
		{"experiments", "/console/experiments"}, {"stop", "/console/experiments/short-prompt/stop"}, {"promote", "/console/experiments/short-prompt/promote/short"},
		{"rules", "/console/rules"}, {"never", "/console/rules?fired=never&q=strategies"}, {"file", "/console/rules/files/strategies.yaml#L30"}, {"version", past},
	} {
		b.to(page.path)
		b.looks(page.name, b.legible)
		if page.name == "experiments" || page.name == "rules" {
			eval[bool](b, `document.querySelectorAll("details").forEach((d) => d.open = true) ?? true`)
			b.looks(page.name+"-open", b.legible)
		}
	}
}

// By keyboard: the experiment is found, its arm is promoted after one question, and the rules say so.
func TestPromoting(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, afternoon(t), stage.Model(replies()))
	b := open(t, s)
	b.signIn("Ann", stage.Admin)
	b.keys("g", "e")
	b.at("Experiments")
	if text := eval[string](b,
		`document.querySelector("#x-short-prompt .verdict-line").textContent`); !strings.HasPrefix(text,
		"short is better by ") {
		t.Errorf("the verdict is %q", text)
	}
	if n := eval[int](b, `document.querySelectorAll("#x-short-prompt .wide svg .band").length`); n != 3 {
		t.Errorf("%d pictures", n)
	}
	b.tabTo("Promote short of short-prompt", 1)
	b.keys("\r")
	b.at("Promote short of short-prompt?")
	if text := eval[string](b, `document.querySelector("main").innerText`); !strings.Contains(text,
		"extra/models.short-prompt.yaml") || !strings.Contains(text, "+        prompt: short") &&
		!strings.Contains(text, "prompt: short") {
		t.Errorf("it does not say what is written: %s", text)
	}
	if s.Log.Count("rules_taken") > 0 {
		t.Error("it was done without a question")
	}
	b.tabTo("Make it the rule", 1)
	b.keys("\r")
	b.at("Experiments") // before that, keys are lost
	b.soon(`document.querySelector("[role=status].done")?.textContent.startsWith("short of short-prompt is the rule for everybody.") === true`)
	if lines := s.Log.Lines("rules_taken"); len(lines) != 1 ||
		!strings.Contains(lines[0], `by=promote who="Ann (console, token of an admin)"`) {
		t.Errorf("the log says %q", lines)
	}
	text, err := os.ReadFile(filepath.Join(s.Rules, "extra", "models.short-prompt.yaml"))
	if err != nil || !strings.Contains(string(text), "prompt: short") {
		t.Errorf("the rules say %q, %v", text, err)
	}
	b.soon(`document.querySelector("#x-short-prompt .state").textContent === "stopped"`)
	b.keys("g", "r")
	b.at("Rules")
	b.soon(`document.querySelector("#force").parentElement.innerText.includes("a promotion, Ann (console, token of an admin)")`)
}

// An experiment is stopped after one question, with a reason that others read.
func TestStopping(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, afternoon(t), stage.Model(replies()))
	b := open(t, s)
	b.signIn("Ann", stage.Admin)
	b.to("/console/experiments/short-prompt/stop")
	b.do(chromedp.SendKeys("#why", "it <b>rains</b>\r"))
	b.at("Experiments")
	b.soon(`document.querySelector("#x-short-prompt").innerText.includes("It was stopped by Ann (console, token of an admin): it <b>rains</b>")`)
	if lines := s.Log.Lines("experiment_stopped"); len(lines) != 1 ||
		!strings.Contains(lines[0], "Ann (console") {
		t.Errorf("the log says %q", lines)
	}
	b.to("/console/experiments/short-prompt/stop")
	b.at("It does not run")
}

// tabTo moves the focus to the nth stop with a name.
func (b *tab) tabTo(name string, nth int) {
	b.t.Helper()
	for range 120 {
		b.keys("\t")
		if eval[string](b, `(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim().replace(/\s+/g, ' ')`) == name {
			if nth--; nth == 0 {
				return
			}
		}
	}
	b.t.Fatalf("the focus never comes to %s", name)
}
