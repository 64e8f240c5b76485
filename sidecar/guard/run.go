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

// Run judges the calls of one run of executor mode, each before it runs here. It is safe for
// concurrent use.
type Run struct{ judge judge }

// Run returns the judge of a run. Its calls work in the workspace of the settings, whatever a request
// says.
func (g *Guard) Run(set *ruleset.Set, who policy.Subject, id string) *Run {
	return &Run{judge{Guard: g, set: set, who: who, request: id, task: task(id), world: g.World, local: true}}
}

// task is the id of a run.
type task string

func (t task) Task() string { return string(t) }

// AllowedCall is a call that may run.
type AllowedCall struct {
	tools.Call               // as it runs: a command may be wrapped
	Facts      *policy.Facts // as judged

	run *Run
}

// Check returns the call if it may run, or why not. If a person must allow the call, it waits until
// ctx ends; asked receives the question.
func (r *Run) Check(ctx context.Context, call tools.Call, observer Observer,
	asked func(approvals.Entry)) (*AllowedCall, *tools.Refusal) {
	j := r.judge
	j.observer = observer
	j.ask = func(call *tools.Call,
		d policy.Decision) (why, approval string) {
		return j.wait(ctx, call, d, asked)
	}
	if refusal := j.decide(&call); refusal != nil {
		return nil, refusal
	}
	return &AllowedCall{call, j.facts, r}, nil
}

// May returns the use of a path as it was judged: as part of the call, or by itself, such as a file in
// a folder that is searched. The error says why it is not allowed.
func (p *AllowedCall) May(op paths.Op, path string) (paths.Use, error) {
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

// Exists reports whether a path exists, for a call that names it. The caller learns nothing else.
func (r *Run) Exists(name string) bool {
	if !filepath.IsAbs(name) {
		name = filepath.Join(r.folder(), name)
	}
	e, err := workspace.Links{}.Look(name)
	return err == nil && e.Names > 0
}

// MayConnect returns why the call may not connect to a server, as far as its address is known, or nil.
// A URL in the call was judged with it.
func (p *AllowedCall) MayConnect(u urls.Use) error {
	j := &p.run.judge
	d := j.Connection(j.set, j.who, p.Name, u)
	asked := d.Effect == policy.Ask && slices.ContainsFunc(p.Facts.URLs,
		func(own urls.Use) bool { return own.URL == u.URL })
	if d.Effect == policy.Deny || d.Effect == policy.Ask && !asked {
		return errors.New(d.Message())
	}
	return nil
}

// Folder returns the absolute folder in which the call works.
func (p *AllowedCall) Folder() string { return p.run.folder() }

func (r *Run) folder() string { return r.judge.world.Roots(r.judge.set).Cwd }

// wait asks a person and waits for the answer. It asks again if another call has used the approval, or
// a file of the call has changed since.
func (j *judge) wait(ctx context.Context, call *tools.Call, d policy.Decision,
	asked func(approvals.Entry)) (why, approval string) {
	if j.Approvals == nil {
		return d.Message() + " A person must allow this first, and no person can be asked here. Do it another way, or tell the user what to run and why.", ""
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
			if id := j.coveringGrant(call, d); id != "" {
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
