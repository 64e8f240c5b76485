package ruleset

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// An arm is a whole set of rules: all of them, and what it sets.
func TestArms(t *testing.T) {
	files := builtin(t)
	files["prompts/short.txt"] = "Be short."
	files["experiments.yaml"] = `version: 1
experiments:
  - id: one
    about: x
    status: running
    arms:
      control: {share: 50}
      short: {share: 50, set: {prompt: short, sampling: {top_p: 0.5}, effort: high, strategies.markers.priority: 75, limits.retry.times: 7, results.web_search.chars: 999}}
    measure: tool_ok
  - id: two
    about: x
    status: running
    arms: {a: {share: 10}, b: {share: 90, set: {limits.retry.within: 9s}}}
    measure: tokens
  - id: three
    about: x
    status: draft
    arms: {a: {share: 10}, b: {share: 90, set: {limits.retry.within: 8s}}}
    measure: tokens
`
	set, problems := Full.Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	both := set.Under([]string{"one/short", "two/b"})
	gpt, _ := both.Model("gpt-oss")
	markers := both.Strategies("").All()
	i := slices.IndexFunc(markers, func(s parse.Strategy) bool { return s.ID == "markers" })
	switch {
	case gpt.Prompt.Value != "short" || gpt.Sampling["top_p"] != 0.5 ||
		gpt.Sampling["reasoning_effort"] != "high" || gpt.Mode != "provider":
		t.Errorf("%+v", gpt)
	case both.Limits.Retries != 7 || both.Limits.RetryBudget != 9*time.Second ||
		both.Limits.RetryMax != set.Limits.RetryMax:
		t.Errorf("%+v", both.Limits.RetryLimits)
	case i < 0 || markers[i].Priority != 75:
		t.Errorf("markers: %d", i)
	case both.Results.Bounds(OfGateway, "web_search", 0, 5000).Chars != 999:
		t.Error(both.Results.Bounds(OfGateway, "web_search", 0, 5000))
	case both.Version != set.Version || strings.Join(both.Arms, " ") != "one/short two/b":
		t.Error(both.Version, both.Arms)
	}
	if control := set.Under([]string{"one/control"}); control == set ||
		control.Limits.Retries != set.Limits.Retries || len(control.Arms) != 1 {
		t.Error("a control arm has the rules as they are, and says which it is")
	}
	if draft, err := Full.Variant(set, files, "three", "b"); err != nil || draft.Limits.RetryBudget != 8*time.Second {
		t.Error("drafts can be loaded, so that one can look at them:", err)
	}
	if set.Under([]string{"one/short", "three/b"}) != set || set.Under([]string{"three/b"}) != set ||
		set.Under(nil) != set {
		t.Error("nobody is in a draft")
	}
	if both.own != set.own || both.Programs != set.Programs {
		t.Error("what no arm can set is kept more than once")
	}
}

// What is wrong with an arm is told beside what is wrong elsewhere, once each; what the broken
// file alone makes wrong is not laid at the arm's door.
func TestArmsBesideBrokenFiles(t *testing.T) {
	for _, row := range []struct {
		file, text, set string
		want            []string
	}{
		{"limits.yaml", "version: 1\nsise: {}\n", "prompt: nope", []string{"limits.yaml: unknown key sise", "experiments.yaml: with this arm: there is no prompt nope"}},
		{"limits.yaml", "version: 1\n  a: [\n", "strategies.makers.priority: 5", []string{"limits.yaml: ", "experiments.yaml: strategies.yaml has no makers"}},
		{"strategies.yaml", "version: 1\n  a: [\n", "prompt: nope", []string{"strategies.yaml: ", "experiments.yaml: with this arm: there is no prompt nope"}},
		{"strategies.yaml", "version: 1\n  a: [\n", "strategies.makers.priority: 5", []string{"strategies.yaml: "}},
		{"strategies.yaml", "version: 1\n  a: [\n", "limits.retry.times: 5", []string{"strategies.yaml: "}},
		{"models.yaml", "version: 1\n  a: [\n", "prompt: native", []string{"models.yaml: "}},
		{"models.yaml", "version: 1\n  a: [\n", "limits.retry.times: many", []string{"models.yaml: ", "experiments.yaml: with this arm: times must be a whole number"}},
	} {
		files := builtin(t)
		files["experiments.yaml"] = "version: 1\nexperiments:\n  - id: one\n    about: x\n    status: running\n    arms: {control: {share: 50}, new: {share: 50, set: {" + row.set + "}}}\n    measure: tool_ok\n"
		files[row.file] = row.text
		set, problems := Full.Load(files)
		var got []string
		for _, p := range problems {
			if !p.Warning {
				got = append(got, p.File+": "+p.Msg)
			}
		}
		slices.Sort(got)
		slices.Sort(row.want)
		if set != nil || len(got) < len(row.want) {
			t.Errorf("%s in %s: %q", row.set, row.file, got)
			continue
		}
		for _, want := range row.want {
			if !slices.ContainsFunc(got, func(p string) bool { return strings.HasPrefix(p, want) }) {
				t.Errorf("%s in %s: no %q in %q", row.set, row.file, want, got)
			}
		}
		if arms := slices.DeleteFunc(got,
			func(p string) bool {
				return !strings.HasPrefix(p, "experiments.yaml")
			}); len(arms) != len(row.want)-1 {
			t.Errorf("%s in %s: of the arms it says %q", row.set, row.file, arms)
		}
	}
}
