package ruleset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// An arm is a whole set of rules: all of them, and what it sets.
func TestArms(t *testing.T) {
	files := builtin(t)
	files["prompts/short.txt"] = "Be short."
	files[experimentsFile] = `version: 1
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
	if draft, err := Full.Arm(set, files, "three", "b"); err != nil || draft.Limits.RetryBudget != 8*time.Second {
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

// What an arm may not set, and what is wrong with an experiment, has its place.
func TestExperimentProblems(t *testing.T) {
	experiments := func(arms, more string) string {
		return "version: 1\nexperiments:\n  - id: one\n    about: x\n    status: running\n    arms: " + arms +
			"\n    measure: tool_ok\n" + more
	}
	two := func(set string) string { return "{control: {share: 50}, new: {share: 50, set: {" + set + "}}}" }
	for _, row := range []struct{ text, want string }{
		{experiments(two("exec.rules.sudo.effect: allow"), ""), "an arm cannot set exec.rules.sudo.effect"},
		{experiments(two("arguments.classes.write: []"), ""), "an arm cannot set arguments.classes.write"},
		{experiments(two("limits.approvals.total: 5"), ""), "an arm cannot set limits.approvals"},
		{experiments(two("limits.retry.tmes: 5"), ""), "with this arm: unknown key tmes"},
		{experiments(two("limits.retry.times: many"), ""), "with this arm: times must be a whole number"},
		{experiments(two("strategies.makers.priority: 5"), ""), "strategies.yaml has no makers; did you mean markers?"},
		{experiments(two("strategies.markers.priority: 90"), ""), "with this arm: markers: has the priority 90 of harmony"},
		{experiments(two("prompt: nope"), ""), "with this arm: there is no prompt nope"},
		{experiments(two("strategies"), ""), "strategies is a whole file"},
		{experiments(two("limits: 5"), ""), "limits is a whole file"},
		{experiments("{control: {share: 100}}", ""), "an experiment has two arms or more"},
		{experiments("{control: {share: 50}, b: {share: 40}}", ""), "the shares together are 90, not 100"},
		{experiments("{control: {share: 50}, 'a b': {share: 50}}", ""), `"a b" cannot be an id`},
		{experiments("{'': {share: 50}, b: {share: 50}}", ""), `"" cannot be an id`},
		{experiments("{control: {share: 50}, \"a\\nb\\U0001F4A5\": {share: 50}}", ""), "cannot be an id"},
		{experiments(two("prompt: native"), "    sample: [{session: alice, arm: new}, {session: alice, arm: control}]\n"), "the session alice stands here twice"},
		{experiments(two("prompt: native"), "    adaptive: {floor: 50.5}\n"), "floor cannot be 50.5"},
		{experiments("{a: {share: 30}, b: {share: 30}, c: {share: 40}}", "    adaptive: {floor: 40}\n"), "3 arms cannot all get 40 percent"},
		{experiments(two("prompt: native"), "    guards: [{measure: emty}]\n"), "there is no measure emty"},
		{experiments(two("prompt: native"), "    when: agnt == 'x'\n"), "a condition here sees no agnt"},
		{experiments(two("prompt: native"), "    sample: [{agent: a, arm: control}]\n"), "the sample names no session"},
		{experiments(two("prompt: native"), "    sample: [{session: alice, arm: nwe}]\n"), "there is no arm nwe"},
		{experiments(two("prompt: native"), "  - id: two\n    about: x\n    status: running\n    arms: "+two("prompt: native")+"\n    measure: tokens\n"), "sets prompt, too"},
		{"version: 1\nexperiments:\n" + drafts(33), "the experiments have more than 64 arms"},
		{"version: 1\nexperiments: []\noutcomes: {failed: [{find: '^x', hit: [ax]}]}\n", "the sign is not found in this text"},
		{"version: 1\nexperiments: []\ncapture: {share: 200}\n", "share cannot be 200"},
	} {
		files := builtin(t)
		files[experimentsFile] = row.text
		set, problems := Full.Load(files)
		if set != nil || !strings.Contains(problems.Error(), row.want) || problems[0].Line == 0 ||
			problems[0].File != experimentsFile {
			t.Errorf("%s\nwant %s\ngot  %v", row.text, row.want, problems)
		}
		for _, p := range problems {
			if strings.HasSuffix(p.Hint, ": ") {
				t.Errorf("%s\na hint without an end: %q", row.text, p.Hint)
			}
		}
	}
}

// drafts are n experiments with two arms each.
func drafts(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf("  - {id: e%d, about: x, status: draft, measure: tool_ok, arms: {a: {share: 50}, b: {share: 50}}}\n", i)
	}
	return text
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
		files[experimentsFile] = "version: 1\nexperiments:\n  - id: one\n    about: x\n    status: running\n    arms: {control: {share: 50}, new: {share: 50, set: {" + row.set + "}}}\n    measure: tool_ok\n"
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
				return !strings.HasPrefix(p, experimentsFile)
			}); len(arms) != len(row.want)-1 {
			t.Errorf("%s in %s: of the arms it says %q", row.set, row.file, arms)
		}
	}
}

// The same unit gets the same arm, shares are what chance makes of them, edited shares move few
// units, and experiments do not know of each other.
func TestPick(t *testing.T) {
	e := experiment.Experiment{ID: "one", Arms: []experiment.CompiledArm{{Name: "a"}, {Name: "b"},
		{Name: "c"}}}
	other := experiment.Experiment{ID: "two", Arms: e.Arms}
	before, after := []float64{0.5, 0.3, 0.2}, []float64{0.5, 0.4, 0.1}
	units := 1_000_000
	if testing.Short() {
		units = 50_000
	}
	var counts [3]int
	var both [3][3]int
	moved := 0
	for i := range units {
		unit := "agent:main:" + string(rune('a'+i%26)) + time.Duration(i).String()
		was, is, there := e.Pick(unit, before), e.Pick(unit, after), other.Pick(unit, before)
		counts[was]++
		both[was][there]++
		if was != is {
			moved++
			if was != 2 && is != 1 {
				t.Fatalf("%s moved from %d to %d", unit, was, is)
			}
		}
	}
	near := func(n int, share float64) bool {
		return float64(n) > share*float64(units)*0.98-100 && float64(n) < share*float64(units)*1.02+100
	}
	for i, share := range before {
		if !near(counts[i], share) {
			t.Errorf("arm %d: %d of %d", i, counts[i], units)
		}
		for k, too := range before {
			if !near(both[i][k], share*too) {
				t.Errorf("both %d and %d: %d", i, k, both[i][k])
			}
		}
	}
	if float64(moved) < 0.1*float64(units) || float64(moved) > 0.18*float64(units) {
		t.Errorf("%d of %d moved; a tenth must", moved, units)
	}
	if e.Pick("alice", before) != 1 || e.Pick("x", []float64{0, 0, 0}) != -1 ||
		e.Pick("x", []float64{0, 1, 0}) != 1 {
		t.Error("not the same arm")
	}
}
