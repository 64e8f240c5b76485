package ruleset

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy"
)

// pastTexts are texts with which something was found once, quoted as in Go, a line each.
const pastTexts = "testdata/bash_past.txt"

// What the policy allows never runs a program that it does not know. Bash decides what
// runs. BASH_SECONDS says how long to look, BASH_SEED where to begin. In CI the texts are fixed,
// so that a change is judged by what it does and not by luck; make fuzz looks elsewhere.
func TestBashRunsNothingElse(t *testing.T) {
	count, first := 150, int(rand.Uint32())
	if os.Getenv("CI") == "true" {
		count, first = 600, 1
	}
	seconds := numberFrom(t, "BASH_SECONDS", 0)
	seed := uint64(numberFrom(t, "BASH_SEED", first))
	t.Logf("BASH_SEED=%d", seed)
	c := comparing{set: loaded(t), box: testkit.NewBash(t, marker)}
	for text := range strings.Lines(textOf(t, pastTexts)) {
		if text, err := strconv.Unquote(strings.TrimSpace(text)); err == nil {
			c.compare(t, text)
		}
	}
	maker := newTexts(seed)
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	for i := 0; seconds > 0 && time.Now().Before(end) || seconds == 0 && i < count; i++ {
		c.compare(t, maker.Text())
	}
	t.Logf("%d texts, of which %d ran the marker and %d were allowed", c.texts, c.ran, c.allowed)
	if c.texts > 100 && (c.ran == 0 || c.allowed == 0) {
		t.Error("nothing was compared")
	}
}

// comparing compares a policy with bash.
type comparing struct {
	set                 *Set
	box                 *testkit.Bash
	texts, ran, allowed int
}

func (c *comparing) compare(t *testing.T, text string) {
	t.Helper()
	c.texts++
	d := c.set.CheckCommand(text, somebody, corpusAt)
	if d.Effect == policy.Allow {
		c.allowed++
	}
	if !c.box.Ran(t, text) {
		return
	}
	c.ran++
	if d.Effect == policy.Allow {
		t.Errorf("allowed, and bash ran the marker: %q", text)
	}
}

func numberFrom(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text, given := os.LookupEnv(name)
	if !given {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// A denial stays one, however the command is quoted or wrapped.
func TestWrappedStaysDenied(t *testing.T) {
	set := loaded(t)
	n := 0
	for text := range strings.Lines(textOf(t, "testdata/denied.txt")) {
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if d := decideCommand(set, text); d.Effect != policy.Deny {
			t.Errorf("%s for %q (rule %s)", d.Effect, text, d.Rule)
			continue
		}
		for _, w := range wrappedTexts(text) {
			n++
			if d := decideCommand(set, w); d.Effect != policy.Deny {
				t.Errorf("%s for %q (rule %s)", d.Effect, w, d.Rule)
			}
		}
	}
	if n < 1000 {
		t.Errorf("only %d commands were tried", n)
	}
}

func decideCommand(set *Set, text string) policy.Decision {
	return set.CheckCommand(text, somebody, corpusAt)
}

func textOf(t *testing.T, name string) string {
	t.Helper()
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}
