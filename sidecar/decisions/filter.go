package decisions

import (
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// Filter chooses decisions about calls and connections. Empty fields let everything
// through.
type Filter struct {
	Since   time.Time
	Effect  string
	Rule    string // that decided, or was a dry run that holds; default: none decided
	Tool    string
	Session string
}

// Takes reports whether a record is a decision that is meant.
func (f *Filter) Takes(r *Record) bool {
	d := r.Decision
	if c := r.Connection; c != nil {
		d = &Decision{Effect: c.Effect, Rule: c.Rule, Findings: c.Findings, Tool: c.Tool, Session: c.Session}
	}
	return d != nil && !r.Time.Before(f.Since) &&
		(f.Effect == "" || string(d.Effect) == f.Effect) &&
		(f.Rule == "" || d.RuleName() == f.Rule || slices.ContainsFunc(d.Findings, func(x policy.Finding) bool { return x.Rule == f.Rule })) &&
		(f.Tool == "" || d.Tool == f.Tool) &&
		(f.Session == "" || d.Session == f.Session)
}

// RuleName is the rule that decided, or default.
func (d *Decision) RuleName() string {
	if d.Rule == "" {
		return "default"
	}
	return d.Rule
}

// Judgeable reports whether the arguments are what the policy saw, secrets aside.
func (d *Decision) Judgeable() bool {
	return len(d.Arguments) > 0 && d.Arguments[0] == '{'
}
