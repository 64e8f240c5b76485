package decisions

import (
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// Filter selects decisions about calls and connections. Empty fields match everything.
type Filter struct {
	Since   time.Time
	Until   time.Time // exclusive
	Effect  string
	Rule    string // that decided, or a dry run that holds; "default": no rule decided
	Tool    string
	Session string
	Agent   string
	Words   []string // all of them, in any case
	ID      string   // of the call, request, approval or command
}

// Takes reports whether a record is a decision that the filter selects.
func (f *Filter) Takes(r *Record) bool {
	d := r.Decision
	if c := r.Connection; c != nil {
		d = &Decision{Effect: c.Effect, Rule: c.Rule, Findings: c.Findings, Tool: c.Tool, Session: c.Session,
			Agent: c.Agent}
	}
	return d != nil && !r.Time.Before(f.Since) && (f.Until.IsZero() || r.Time.Before(f.Until)) &&
		(f.Effect == "" || string(d.Effect) == f.Effect) &&
		(f.Rule == "" || d.RuleName() == f.Rule ||
			slices.ContainsFunc(d.Findings, func(x policy.Finding) bool { return x.Rule == f.Rule })) &&
		(f.Tool == "" || d.Tool == f.Tool) &&
		(f.Session == "" || d.Session == f.Session) &&
		(f.Agent == "" || d.Agent == f.Agent) &&
		(f.ID == "" || r.hasID(f.ID)) &&
		(len(f.Words) == 0 || r.contains(f.Words))
}

// hasID reports whether a record has an id.
func (r *Record) hasID(id string) bool {
	if d := r.Decision; d != nil {
		return d.Call == id || d.Request == id || d.Approval == id
	}
	return r.Connection.Ticket == id
}

// contains reports whether the words are in what people see of a record.
func (r *Record) contains(words []string) bool {
	var b strings.Builder
	add := func(texts ...string) {
		for _, text := range texts {
			b.WriteString(strings.ToLower(text) + "\n")
		}
	}
	if d := r.Decision; d != nil {
		add(d.Call, d.Request, d.Approval, d.Grant, d.Session, d.Agent, d.Channel, d.Model, d.Tool, d.Class,
			d.Strategy, string(d.Arguments), string(d.Effect), string(d.Outcome), d.RuleName(), d.Place,
			d.Why, d.Instead, d.Rules)
	}
	if c := r.Connection; c != nil {
		add(c.Ticket, c.Session, c.Agent, c.Tool, c.Server, c.Address, c.Method, string(c.Effect),
			string(c.Outcome), c.Rule, c.Place, c.Why, c.Rules)
	}
	text := b.String()
	return !slices.ContainsFunc(words,
		func(w string) bool { return !strings.Contains(text, strings.ToLower(w)) })
}

// RuleName returns the rule that decided, or default.
func (d *Decision) RuleName() string {
	if d.Rule == "" {
		return "default"
	}
	return d.Rule
}

// Judgeable reports whether the arguments are what the policy saw, except for secrets.
func (d *Decision) Judgeable() bool {
	return len(d.Arguments) > 0 && d.Arguments[0] == '{'
}
