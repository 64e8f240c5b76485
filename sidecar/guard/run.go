package guard

import (
	"context"
	"crypto/rand"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Run judges the calls of one run of executor mode, each just before it runs here. Safe for
// concurrent use.
type Run struct{ judge judge }

// Run begins to judge a run. Its calls work in the workspace that was set at start, whatever
// a request says.
func (g *Guard) Run(set *ruleset.Set, who policy.Subject) *Run {
	return &Run{judge{Guard: g, set: set, who: who, request: rand.Text(), world: g.World, here: true}}
}

// Weigh says why a call may not run, or nil. It may change the arguments: a command is
// wrapped, so that the kernel holds it. Where a person must allow the call, it waits for them
// until ctx ends; asked hears of that. The facts are what was judged, and so what may be
// done.
func (r *Run) Weigh(ctx context.Context, call *tools.Call, asked func(approvals.Entry)) (*policy.Facts, *tools.Refusal) {
	j := r.judge
	j.ask = func(call *tools.Call, d policy.Decision) (why, approval string) { return j.wait(ctx, call, d, asked) }
	m := j.moment()
	facts := j.set.Examine(*call, j.who, j.world.at(m))
	return facts, j.decide(call)
}

// wait asks a person, and waits for the answer.
func (j *judge) wait(ctx context.Context, call *tools.Call, d policy.Decision, asked func(approvals.Entry)) (why, approval string) {
	if j.Approvals == nil {
		return d.Message() + " A person must allow this first, and nobody can be asked here. Do it another way, or tell the user what to run and why.", ""
	}
	q := j.question(call, d)
	e := j.Approvals.Request(q, reason(d))
	if e.State == approvals.Pending {
		asked(e)
		if waited, err := j.Approvals.Wait(ctx, e.ID); err == nil {
			e = waited
		}
	}
	switch e.State {
	case approvals.Allowed:
		if id := j.Approvals.Take(q.Binding()); id != "" {
			return "", id
		}
	case approvals.Pending:
		return d.Message() + " The user was asked, and has not answered in time. Do it another way, or tell them what to run and why.", e.ID
	}
	return d.Message() + " The user was asked, and did not allow it. Do not send it again.", e.ID
}
