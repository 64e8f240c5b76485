package console

import (
	"cmp"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// How many calls of a reply the policy judges again. Each involves all rules, and a reply may hold
// thousands.
const (
	maxJudged = 64
	fewJudged = 8 // where that is done on each pause in typing
)

// readView shows how a rule set reads a reply.
type readView struct {
	Missing  string // why the original is not shown; empty: it is
	Marked   []markedText
	Kinds    []replay.As // of the pieces
	Native   []callView  // calls in the server's own format, as they came
	Tree     *replay.Tree
	Quiet    int // number of strategies without a result
	Judged   []judgedView
	Unjudged int // calls that are too many
}

// read reads a reply with the code that serves. Marked is empty if its text is too long. The result is nil
// if the reply cannot be read.
func (v *readView) read(in guard.World, set *ruleset.Set, profile string, rec *replay.Record,
	native []experiment.ServerCall, confines bool, most int) *replay.Shown {
	for _, call := range native {
		v.Native = append(v.Native, callOf(call.Name, []byte(call.Arguments)))
	}
	read, err := replay.Show(set, in, profile, rec, maxMarked)
	if err != nil {
		v.Missing = "It cannot be read: " + shown(err.Error())
		return nil
	}
	for _, m := range read.Marked {
		v.Marked = append(v.Marked, markedOf(m))
	}
	for _, s := range read.Tree.Strategies {
		if s.Verdict == replay.VerdictNothing || s.Verdict == replay.VerdictDisabled {
			v.Quiet++
		}
	}
	v.Kinds, v.Tree = kindsOf(v.Marked), read.Tree
	world, calls := in.WithFolder(set, rec.Workspace), read.Tree.Judgeable()
	v.Unjudged = max(0, len(calls)-most)
	for _, call := range calls[:len(calls)-v.Unjudged] {
		v.Judged = append(v.Judged, judgedOf(world.ExplainCall(set, call, rec.Who, confines ||
			set.Confine() == ruleset.Always)))
	}
	return read
}

// judgedView shows the policy's answer to a call.
type judgedView struct {
	Tool, Effect, Rule, Place, Why, Instead string
	Audits                                  []policy.Finding
	Facts                                   []guard.FactLine
	Holds, Idle                             []ruleset.Verdict // rules that match, and that do not
}

func judgedOf(e *guard.Explanation) judgedView {
	d := &e.Decision
	v := judgedView{Tool: shown(e.Tool), Effect: string(cmp.Or(d.Effect, policy.Allow)),
		Rule: cmp.Or(d.Rule, "default"), Place: d.Place, Why: shown(d.Why), Instead: shown(d.Instead),
		Audits: d.Audits}
	v.Facts = guard.FactLines(d.Facts, shown)
	for _, rule := range e.Rules {
		rule.Operand, rule.Error = shown(rule.Operand), shown(rule.Error)
		if rule.Holds || rule.Error != "" {
			v.Holds = append(v.Holds, rule)
		} else {
			v.Idle = append(v.Idle, rule)
		}
	}
	return v
}
