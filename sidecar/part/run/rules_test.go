package run

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// What the file says, and what an extra file changes, is in force; the built-in context counts where it is
// left out; values that do not go together have their place.
func TestRules(t *testing.T) {
	const file = "runs.yaml"
	files, err := ruletest.Source(t, "").Read()
	ruletest.Must(t, err)
	whole := files[file]
	for name, row := range map[string]struct {
		changed rulefile.Files
		problem string // empty: none
		holds   func(*Runs) bool
	}{
		"shipped": {nil, "", func(r *Runs) bool { return r.Context.Window == 32768 && !r.Tool("read").Again }},
		"no context": {rulefile.Files{file: regexp.MustCompile(`(?m)^context:\n(?:  .*\n)+`).ReplaceAllString(whole,
			"")}, "", func(r *Runs) bool { return r.Context.Reserve == 2000 }},
		"changed by an extra file": {rulefile.Files{"extra/runs.a.yaml": "version: 1\ntools: [{tool: web_search, timeout: 5s}, {tool: read, delete: true}]"},
			"", func(r *Runs) bool {
				search, read := r.Tool("web_search"), r.Tool("read")
				return search.Timeout == 5*time.Second && search.Again && read.Tool.Value == every
			}},
		"all is kept free":        {rulefile.Files{file: strings.Replace(whole, "reserve: 2000", "reserve: 10000000", 1)}, "reserve must be less than window", nil},
		"left out, not shortened": {rulefile.Files{file: strings.Replace(whole, "trim_at: 0.6", "trim_at: 0.9", 1)}, "trim_at cannot be more than compact_at", nil},
	} {
		set, problems := ruletest.Load(t, row.changed, RunsSection())
		if row.problem != "" {
			if set != nil || problems[0].File != file || problems[0].Line == 0 ||
				!strings.Contains(problems[0].Msg, row.problem) {
				t.Errorf("%s: %v", name, problems)
			}
		} else if set == nil || !row.holds(ruleset.Of[Runs](set)) {
			t.Errorf("%s: %v", name, problems)
		}
	}
}
