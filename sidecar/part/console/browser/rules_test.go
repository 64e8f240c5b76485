package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
)

// An edit that was refused is shown with its line; a version of the history is compared and put back, by
// keyboard.
func TestRollingBack(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, stage.Tokens, stage.Model(replies()))
	b := open(t, s)
	b.signIn("Ann", stage.Admin)
	b.keys("g", "r")
	b.at("Rules")
	first := eval[string](b, `document.querySelector("#force code").textContent`)
	ruletest.Edit(t, s.Rules, "limits.yaml", "depth: 128", "depth: 96")
	// the page goes on by itself
	b.soon(`document.querySelector("#force code").textContent !== "` + first + `"`)
	second := eval[string](b, `document.querySelector("#force code").textContent`)
	ruletest.Edit(t, s.Rules, "limits.yaml", "depth: 96", "depth: deep")
	b.soon(`document.querySelector(".refused .problems li")?.innerText.includes("limits.yaml:14:10 depth must be a whole number, not deep") === true`)
	if mark := eval[string](b, `document.querySelector(".refused mark").textContent`); mark != "deep" {
		t.Errorf("%q is marked", mark)
	}
	ruletest.Edit(t, s.Rules, "limits.yaml", "depth: deep", "depth: 96")
	b.soon(`document.querySelector(".refused") === null`)
	b.keys("j", "\r")
	b.at("Version " + first)
	for kind, want := range map[string]string{"del": "-  depth: 96", "add": "+  depth: 128"} {
		if line := eval[string](b, `document.querySelector(".diff .d-`+kind+
			`").textContent`); !strings.HasPrefix(line, want) {
			t.Errorf("%s is %q", kind, line)
		}
	}
	b.tabTo("Roll back", 1)
	b.keys("\r")
	b.soon(`document.querySelector("[role=status].done")?.textContent === "The rules are rolled back. Version ` + first + ` is in force."`)
	b.soon(`document.querySelector("#force code").textContent === "` + first + `"`)
	lines := s.Log.Lines("rules_taken")
	if last := lines[len(lines)-1]; !strings.Contains(last, "version="+first+" before="+second+
		` by=rollback who="Ann (console, token of an admin)"`) {
		t.Errorf("the log says %s", last)
	}
	text, err := os.ReadFile(filepath.Join(s.Rules, "limits.yaml"))
	if err != nil || !strings.Contains(string(text), "depth: 128") {
		t.Errorf("the folder does not hold the old version: %v", err)
	}
}

// A rule that never fired is found, and so is the line of one that has; a turn leads to the lines that read
// it.
func TestNeverFired(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, stage.Tokens, stage.Model(replies()))
	s.Ask("may", "list", true)
	b := open(t, s)
	b.signIn("Rob", stage.Reader)
	b.to("/console/rules")
	b.do(chromedp.SetValue("#fired", "never"))
	b.keys("/")
	b.soon(`document.activeElement.id === "q" && document.activeElement.value === ""`)
	b.keys("\x1b", "j", "j") // what follows the field: the list of rules
	b.soon(`document.activeElement.closest("tr") === document.querySelectorAll(".hits tbody tr")[1]`)
	b.keys("k")
	b.soon(`document.activeElement.closest("tr") === document.querySelector(".hits tbody tr")`)
	if eval[bool](b, `getComputedStyle(document.activeElement.closest("tr")).backgroundColor === getComputedStyle(document.querySelectorAll(".hits tbody tr")[1]).backgroundColor`) {
		t.Error("the rule at which one is does not stand out")
	}
	if look := eval[string](b,
		`(() => { const [place, link] = [".hits a.place", ".files a"].map((e) => getComputedStyle(document.querySelector(e))); return place.textDecorationLine + " " + place.textDecorationStyle + " " + (place.color === link.color) })()`); look != "underline solid true" {
		t.Errorf("a place does not look like a link: %s", look)
	}
	b.keys("/", "strategies.yaml", "\r")
	b.soon(`location.search === "?q=strategies.yaml&fired=never" && document.documentElement?.dataset.ready === ""`)
	rules := eval[[]string](b,
		`[...document.querySelectorAll(".hits tbody tr")].map((tr) => tr.innerText.replace(/\s+/g, " "))`)
	all := strings.Join(rules, "\n")
	if !strings.Contains(all, "never react strategies.yaml:") || strings.Contains(all, " harmony ") {
		t.Errorf("never fired:\n%s", all)
	}
	b.to("/console/?outcome=repaired")
	b.do(chromedp.Click("[data-item]"))
	b.at("Turn")
	b.do(chromedp.Click(".trace > li > a.place"))
	b.at("strategies.yaml")
	if line := eval[string](b, `document.querySelector(":target .t").textContent`); !strings.Contains(line,
		"id: harmony") {
		t.Errorf("the turn leads to %q", line)
	}
	if hit := eval[string](b, `document.querySelector(":target .hit").textContent`); hit != "fired 1×" {
		t.Errorf("it says %q", hit)
	}
	if !eval[bool](b, `(() => { const r = document.querySelector(":target").getBoundingClientRect(); return r.top > 60 && r.bottom < innerHeight; })()`) {
		t.Error("the line is not in sight")
	}
}
