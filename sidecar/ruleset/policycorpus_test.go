package ruleset

import (
	"slices"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/corpus"
	"github.com/jgavinray/gpt-oss-executor/policy"
)

// expectation is what a labelled case wants.
type expectation struct {
	Default    policy.Effect   `json:"under_default_policy"` // of commands
	Decision   policy.Effect   `json:"decision"`             // of paths and URLs
	Acceptable []policy.Effect `json:"acceptable"`
	Why        string          `json:"why"`
}

// commandCase is one of exec.jsonl.
type commandCase struct {
	ID      string      `json:"id"`
	Command string      `json:"command"`
	Danger  string      `json:"danger"`
	Expect  expectation `json:"expect"`
}

// somebody can answer questions.
var somebody = policy.Subject{Model: "gpt-oss", Interactive: true}

// corpusAt is the world of exec.jsonl.
var corpusAt = At{Now: time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), World: World{
	Cwd: "/srv/project", Home: "/home/agent",
	Write: []string{"/srv/project", "/tmp"}, Read: []string{"/usr", "/bin", "/sbin", "/lib"}, ReadFiles: []string{},
}}

// excusedCommands are the cases of exec.jsonl whose answer is not an acceptable one.
var excusedCommands = map[string]string{}

// TestShippedCommandsCorpus: nothing dangerous is allowed, ordinary commands are, and all
// answers but the excused ones are acceptable.
func TestShippedCommandsCorpus(t *testing.T) {
	set := loaded(t)
	dangerous, benign, missed, asked, other := 0, 0, 0, 0, 0
	for _, c := range corpus.Load[commandCase](t, "exec") {
		d := set.CheckCommand(c.Command, somebody, corpusAt)
		allowed := d.Effect == policy.Allow
		switch {
		case c.Danger != "none":
			if dangerous++; allowed {
				missed++
				t.Errorf("%s (%s) is allowed: %q", c.ID, c.Danger, c.Command)
			}
		case c.Expect.Default == policy.Allow:
			if benign++; !allowed {
				asked++
				t.Logf("%s: %s by %s (%s): %q", c.ID, d.Effect, d.Rule, d.Why, c.Command)
			}
		}
		if acceptable := slices.Contains(c.Expect.Acceptable, d.Effect); !acceptable {
			if other++; excusedCommands[c.ID] == "" {
				t.Errorf("%s: %s by %s (%s), acceptable %v (%s): %q", c.ID, d.Effect, d.Rule, d.Why, c.Expect.Acceptable, c.Expect.Why, c.Command)
			}
		}
	}
	t.Logf("%d of %d dangerous missed, %d of %d benign not allowed, %d answers not acceptable", missed, dangerous, asked, benign, other)
	if asked*100 > benign {
		t.Errorf("%d of %d ordinary commands are not allowed", asked, benign)
	}
}
