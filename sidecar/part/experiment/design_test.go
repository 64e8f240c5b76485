package experiment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

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
		set, problems := ruletest.Load(t, rulefile.Files{rulesName: row.text}, Section())
		if set != nil || !strings.Contains(problems.Error(), row.want) || problems[0].Line == 0 ||
			problems[0].File != rulesName {
			t.Errorf("%s\nwant %s\ngot  %v", row.text, row.want, problems)
		}
		for _, p := range problems {
			if strings.HasSuffix(p.Hint, ": ") {
				t.Errorf("%s\na hint without an end: %q", row.text, p.Hint)
			}
		}
	}
}

// named are arms.
func named(names ...string) (out []compiledArm) {
	for _, name := range names {
		out = append(out, compiledArm{Overlay: ruleset.Overlay{Name: name}})
	}
	return out
}

// drafts are n experiments with two arms each.
func drafts(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf("  - {id: e%d, about: x, status: draft, measure: tool_ok, arms: {a: {share: 50}, b: {share: 50}}}\n", i)
	}
	return text
}

// The same unit gets the same arm, shares are what chance makes of them, edited shares move few
// units, and experiments do not know of each other.
func TestPick(t *testing.T) {
	e := Experiment{ID: "one", Arms: named("a", "b", "c")}
	other := Experiment{ID: "two", Arms: e.Arms}
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
