package browser

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// By keyboard alone: a bad reading is seen in Live, opened, tried in the playground, mended by an
// alias, tested and published; the same reply is then read right.
func TestMending(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, stage.Tokens,
		stage.Model(map[string]script.Reply{"fax": script.LeakedHarmony("send_fax",
			`{"path":"june.md","content":"hello"}`)}))
	b := open(t, s)
	began := time.Now()
	b.signIn("Ann", stage.Admin)
	if got := s.Ask("june", "fax", true); strings.Contains(got, `"write"`) {
		t.Fatalf("the reply is read right already: %s", got)
	}
	b.soon(`document.querySelector("[data-turns] tr") !== null`)
	b.keys("j", "\r")
	b.at("Turn")
	if got := eval[string](b, `document.querySelector("[data-try]").textContent`); !strings.HasPrefix(got,
		"Say which tool send_fax means") {
		t.Errorf("t does %q", got)
	}
	b.keys("t")
	b.at("Playground")
	if next := b.next(); !strings.Contains(next, "No tool is called send_fax") {
		t.Errorf("next is %q", next)
	}
	b.shot("mending-1")
	b.soon(`document.activeElement.classList.contains("unnamed")`) // and on no choice, which Enter would take
	b.keys("\r")
	if got := eval[string](b, `document.querySelector(".unnamed").textContent`); !strings.Contains(got,
		"1 exec 2 read 3 write") {
		t.Errorf("the choices are %q", got)
	}
	b.keys("3")
	b.soon(`document.querySelector("#reading .changes")?.textContent.includes('write {"path":"june.md"') === true`)
	b.soon(`document.activeElement.id === "run-tests"`)
	if !eval[bool](b, `(() => { const r = (e) => document.querySelector(e).getBoundingClientRect(); return r("#becomes4").top > r("header").bottom && r("#run-tests").bottom <= innerHeight })()`) {
		t.Errorf("what changes is not in sight beside the tests: %s",
			eval[string](b, `JSON.stringify(["header", "#becomes4", "#run-tests"].map((e) => document.querySelector(e).getBoundingClientRect()))`))
	}
	if got := eval[string](b, `document.querySelector("#becomes4").innerText`); !strings.Contains(got,
		"send_fax") || !strings.Contains(got, `write {"path":"june.md"`) {
		t.Errorf("beside the tests it says %q", got)
	}
	if got := eval[string](b, `document.querySelector("#draft").value`); !strings.Contains(got,
		"  write: [send_fax, write_file,") {
		t.Errorf("the draft is\n%s", got)
	}
	b.shot("mending-2")
	if s.Log.Count("rules_taken") > 0 {
		t.Error("the draft is in force")
	}
	b.keys("r")
	b.soon(`document.querySelector("#tests .state.good") !== null`)
	b.shot("mending-3")
	if !eval[bool](b, `(() => { const r = (e) => document.querySelector(e).getBoundingClientRect(); return r("#tests .state").top > r("#next").bottom && r("#publish button").bottom <= innerHeight })()`) {
		t.Error("what came of the tests is not in sight beside what is next, and the button that publishes")
	}
	b.keys("y")
	b.soon(`document.querySelector("#next.done")?.textContent.includes("Ann has published aliases.yaml") === true`)
	b.at("Playground")
	b.shot("mending-4")
	if got := s.Ask("june", "fax", false); !strings.Contains(got, `"write"`) {
		t.Errorf("the same reply is answered with %s", got)
	}
	b.at("Playground")
	b.keys("l")
	b.at("Live")
	b.soon(`document.querySelector("[data-turns] tr .c-calls").textContent.trim() === "write"`)
	b.soon(`document.querySelector("[data-turns] tr .c-note").textContent === "send_fax → write"`)
	t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
	if lines := s.Log.Lines("rules_taken"); len(lines) != 1 ||
		!strings.Contains(lines[0], "Ann (console, token of an admin)") {
		t.Errorf("the log says %q", lines)
	}
}

// next is what the playground says is next.
func (b *tab) next() string { return eval[string](b, `document.querySelector("#next").textContent`) }

// What is typed is checked at its line and read on each pause; nothing of it is in force.
func TestTyping(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, nil, stage.Model(replies()))
	b := open(t, s)
	b.to("/console/playground?file=limits.yaml")
	text := eval[string](b, `document.querySelector("#draft").value`)
	line := 1 + strings.Count(text[:strings.Index(text, "per_minute")], "\n")
	eval[bool](b, `(() => { const a = document.querySelector("#draft"); a.focus(); const i = a.value.indexOf("per_minute"); a.setSelectionRange(i, i + 10); return true })()`)
	b.keys("p", "e", "r")
	b.soon(`document.querySelector("#problems li.bad a") !== null`)
	if got := eval[int](b, `Number(document.querySelector("#problems li.bad a").dataset.line)`); got != line {
		t.Errorf("the problem is at line %d, want %d", got, line)
	}
	if got := eval[string](b,
		`document.querySelector(".gutter .bad").textContent`); got != strconv.Itoa(line) {
		t.Errorf("the gutter marks line %s", got)
	}
	b.do(chromedp.SendKeys("#text", "hello"))
	b.soon(`document.querySelector("#reading .came")?.textContent.includes("hello") === true`)
	b.do(chromedp.Click("#problems li.bad a"))
	if got := eval[string](b,
		`(() => { const a = document.querySelector("#draft"); return document.activeElement.id + " " + a.value.slice(a.selectionStart, a.selectionEnd) })()`); got != "draft per" {
		t.Errorf("the link goes to %q", got)
	}
	// Another file would drop the draft.
	eval[bool](b, `(() => { const f = document.querySelector("#file"); f.value = "aliases.yaml"; f.dispatchEvent(new Event("input", {bubbles: true})); return true })()`)
	b.soon(`document.querySelector("#next").textContent.includes("Your draft of limits.yaml is not published")`)
	if got := eval[string](b, `document.querySelector("#file").value`); got != "limits.yaml" {
		t.Errorf("the file is %s", got)
	}
	b.do(chromedp.Click("#drop button"))
	b.soon(`document.querySelector("#problems li.bad") === null`)
	if got := eval[string](b, `document.querySelector("#draft").value`); got != text {
		t.Error("the draft was not dropped")
	}
	if s.Log.Count("rules_taken")+s.Log.Count("rules_refused") > 0 {
		t.Error("a draft was more than a draft")
	}
	if text := eval[string](b,
		`document.querySelector("#step5").parentElement.innerText`); !strings.Contains(text,
		"asks for no token") || strings.Contains(text, "Undo") {
		t.Errorf("without a token it says %s", text)
	}
}

// From a rule file: the caret stands at its line and selects nothing, the numbers stand beside their lines,
// Escape leaves the editor, and the way back leads to the file.
func TestEditor(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, stage.Tokens, stage.Model(replies()))
	b := open(t, s)
	b.signIn("Ann", stage.Admin)
	for _, width := range []int64{1280, 390} {
		b.do(chromedp.EmulateViewport(width, 844))
		b.to("/console/rules/files/limits.yaml")
		b.do(chromedp.Click(`a[href*="playground"]:not([data-key])`))
		b.at("Playground")
		b.soon(`document.activeElement.id === "draft"`)
		if n := eval[int](b, `document.activeElement.selectionEnd - document.activeElement.selectionStart`); n != 0 {
			t.Errorf("%d: %d characters are selected", width, n)
		}
		const drift = `(() => {
			const area = document.querySelector("#draft"), gutter = document.querySelector(".gutter"), lines = area.value.split("\n").length;
			const pad = parseFloat(getComputedStyle(area).paddingTop), height = (area.scrollHeight - 2 * pad) / lines;
			area.scrollTop = area.scrollHeight;
			area.dispatchEvent(new Event("scroll"));
			return Math.abs(gutter.lastElementChild.offsetTop - pad - (lines - 1) * height) + Math.abs(gutter.scrollTop - area.scrollTop);
		})()`
		if off := eval[float64](b, drift); off > 1.5 {
			t.Errorf("%d: the last number stands %.1f px beside its line", width, off)
		}
		b.keys("\x1b", "u")
		b.at("limits.yaml")
	}
}

// The playground at each size and in each scheme, with all that it can show.
func TestPlaygroundPages(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, stage.Tokens, stage.Model(replies()))
	morning(s)
	b := open(t, s)
	b.signIn("Ann", stage.Admin)
	b.to("/console/playground")
	b.looks("play-empty", b.legible)
	s.Ask("fax", "unknown", false)
	b.to("/console/?q=fax")
	b.to(eval[string](b, `document.querySelector("[data-item]").getAttribute("href")`))
	b.do(chromedp.Click("[data-try]"))
	b.at("Playground")
	b.looks("play-turn", b.legible)
	b.do(chromedp.Click(".unnamed button"))
	b.soon(`document.querySelector("#reading .changes") !== null`)
	b.do(chromedp.Click("#run-tests"))
	b.soon(`document.querySelector("#tests .state") !== null`)
	b.looks("play-changed", b.legible)
	ruletest.Edit(t, s.Rules, "aliases.yaml", "exec: [bash", "exec: [shell_thing, bash")
	ruletest.Soon(t, "the edit is in force", func() bool { return s.Log.Count("rules_taken") > 0 })
	b.do(chromedp.Click(`[formaction$="publish"]`))
	b.soon(`document.querySelector("#next.bad-next")?.textContent.includes("published anew since") === true`)
	b.at("Playground")
	b.looks("play-stale", b.legible)
	b.do(chromedp.SendKeys("#draft", "\nx: ["+kb.End))
	b.soon(`document.querySelector("#problems li.bad") !== null`)
	b.looks("play-broken", b.legible)
	eval[bool](b, `(() => { const w = document.querySelector("#what"); w.value = "command"; document.querySelector("#text").value = "rm -rf /"; w.dispatchEvent(new Event("input", {bubbles: true})); return true })()`)
	b.soon(`document.querySelector("#reading .judged") !== null`)
	b.looks("play-command", b.legible)
	b.do(chromedp.Click("#drop button"))
	b.soon(`document.querySelector("#drop button") === null`)
}
