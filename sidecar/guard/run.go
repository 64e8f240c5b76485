package guard

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Run judges the calls of one run of executor mode, each just before it runs here. Safe for
// concurrent use.
type Run struct{ judge judge }

// Run begins to judge the run of this id. Its calls work in the workspace that was set at start, whatever
// a request says.
func (g *Guard) Run(set *ruleset.Set, who policy.Subject, id string) *Run {
	return &Run{judge{Guard: g, set: set, who: who, request: id, task: task(id), world: g.World, here: true}}
}

// task is the id of a run, which works on one.
type task string

func (t task) Task() string { return string(t) }

// Passed is a call that may run.
type Passed struct {
	tools.Call               // as it runs: a command is wrapped, so that the kernel holds it
	Facts      *policy.Facts // what was judged

	run *Run
}

// Weigh says why a call may not run, or nil. Where a person must allow the call, it waits for
// them until ctx ends; asked hears of that.
func (r *Run) Weigh(ctx context.Context, call tools.Call, observer Observer,
	asked func(approvals.Entry)) (*Passed, *tools.Refusal) {
	j := r.judge
	j.observer = observer
	j.ask = func(call *tools.Call,
		d policy.Decision) (why, approval string) {
		return j.wait(ctx, call, d, asked)
	}
	if refusal := j.decide(&call); refusal != nil {
		return nil, refusal
	}
	return &Passed{call, j.facts, r}, nil
}

// May says whether the call may touch a path, and as what it was judged: as a part of the
// call, or by itself, such as a file in a folder that is searched. The error says why not.
func (p *Passed) May(op paths.Op, path string) (paths.Use, error) {
	for _, use := range p.Facts.Paths {
		if use.Path == path && (use.Op == string(op) || op == paths.Read && use.Op == string(paths.Write)) {
			use.Op = string(op) // who may write a file may see what it replaces
			return use, nil
		}
	}
	j := &p.run.judge
	d := j.set.CheckPath(op, path, j.who, j.world.at(j.moment()))
	if d.Effect == policy.Deny || d.Effect == policy.Ask || len(d.Facts.Paths) != 1 {
		return paths.Use{}, errors.New(d.Message())
	}
	return d.Facts.Paths[0], nil
}

// There reports whether something stands at a path, for a call that names it. Who asks learns
// nothing else.
func (r *Run) There(name string) bool {
	if !filepath.IsAbs(name) {
		name = filepath.Join(r.folder(), name)
	}
	e, err := workspace.Links{}.Look(name)
	return err == nil && e.Names > 0
}

// Reaches says why the call may not connect to a server, as far as its address is known; nil:
// it may. A URL that stands in the call was judged with it.
func (p *Passed) Reaches(u urls.Use) error {
	j := &p.run.judge
	d := j.Connection(j.set, j.who, p.Name, u)
	asked := d.Effect == policy.Ask && slices.ContainsFunc(p.Facts.URLs,
		func(own urls.Use) bool { return own.URL == u.URL })
	if d.Effect == policy.Deny || d.Effect == policy.Ask && !asked {
		return errors.New(d.Message())
	}
	return nil
}

// Folder is where the call works: absolute.
func (p *Passed) Folder() string { return p.run.folder() }

func (r *Run) folder() string { return r.judge.world.Roots(r.judge.set).Cwd }

// wait asks a person, and waits for the answer. Who was allowed something that another call has used up, or
// of which a file has changed since, asks anew.
func (j *judge) wait(ctx context.Context, call *tools.Call, d policy.Decision,
	asked func(approvals.Entry)) (why, approval string) {
	if j.Approvals == nil {
		return d.Message() + " A person must allow this first, and nobody can be asked here. Do it another way, or tell the user what to run and why.", ""
	}
	for {
		q := j.question(call, d)
		e := j.Approvals.Request(q, reason(d, &q))
		if e.State == approvals.Pending {
			asked(e)
			if waited, err := j.Approvals.Wait(ctx, e.ID); err == nil {
				e = waited
			} else {
				j.Approvals.Withdraw(e.ID)
				e.State, e.Note = approvals.Expired, "the run was over before"
			}
		}
		if e.State == approvals.Granted {
			if id := j.covering(call, d); id != "" {
				return "", id
			}
			continue
		}
		if e.State != approvals.Allowed && e.State != approvals.Used {
			return notAllowed(d, &e), e.ID
		}
		now := j.question(call, d)
		if id := j.Approvals.Take(now.Binding()); id != "" {
			return "", id
		}
		j.Approvals.Withdraw(e.ID)
	}
}
