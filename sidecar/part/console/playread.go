package console

import (
	"errors"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

const (
	maxCalls  = 40   // of a reading that are shown; it may have thousands
	maxDiffer = 2000 // bytes of each side of a difference
	maxNamed  = 40   // tools that a name could mean
)

// playReading is a reading of a reply or an answer of the policy, by one rule set.
type playReading struct {
	readView
	Calls, Refused   []callView
	More             int // calls and refused ones that are not shown
	Content, Thought string
	Finish           string
	Asked            bool // the policy was asked, and there is no reply

	read      *replay.Shown
	explained *guard.Explanation
}

// compare reads the form by the rules in force, and by the draft if it differs.
func (c *Console) compare(p *playground) {
	p.Before, p.After, p.Differences, p.Unnamed, p.Offered, p.Wrong = nil, nil, nil, nil, nil, ""
	set := c.API.Rules.Set()
	p.Profiles = set.Profiles()
	f := &p.Form
	ask := c.question(f)
	if f.What == "reply" {
		p.Asked = !f.given().Empty()
	} else {
		p.Asked = strings.TrimSpace(f.Text) != ""
	}
	if !p.Asked {
		return
	}
	var err error
	if p.Before, err = ask(set); err == nil && p.Checked.Set != nil && p.Checked.Changed {
		p.After, err = ask(p.Checked.Set)
	}
	if err != nil {
		p.Wrong, p.Before, p.After = shown(err.Error()), nil, nil
		return
	}
	last := p.Before
	if p.After != nil {
		last = p.After
		if last.read != nil {
			p.Differences = differences(p.Before.read, last.read)
		} else {
			p.Differences = RulingDifferences(p.Before.explained, last.explained)
		}
		for i := range p.Differences {
			d := &p.Differences[i]
			d.What, d.Before, d.After = shown(d.What), clip(d.Before), clip(d.After)
		}
	}
	if last.read == nil {
		return
	}
	if p.Unnamed = Unnamed(last.read); len(p.Unnamed) > 0 {
		p.Offered = slices.Clone(last.read.Tree.Tools[:min(maxNamed, len(last.read.Tree.Tools))])
	}
}

// question returns a function that reads the form by a rule set.
func (c *Console) question(f *playForm) func(*ruleset.Set) (*playReading, error) {
	if tool, args, ok := Question(f.What, f.Text); ok {
		return func(set *ruleset.Set) (*playReading, error) {
			explained, err := c.API.World.Explain(set, "", tool, args, set.Confine() == ruleset.Always)
			if err != nil {
				return nil, err
			}
			return &playReading{readView: readView{Judged: []judgedView{judgedOf(explained)}}, Asked: true,
				explained: explained}, nil
		}
	}
	rec, err := c.record(f)
	return func(set *ruleset.Set) (*playReading, error) {
		if err != nil {
			return nil, err
		}
		if p := f.Profile; p != "" && !slices.Contains(set.Profiles(), p) {
			f.Profile = "" // the rules have it no more
		}
		return c.readBy(set, f.Profile, rec)
	}
}

func (c *Console) readBy(set *ruleset.Set, profile string, rec *replay.Record) (*playReading, error) {
	v := &playReading{}
	if v.read = v.readView.read(c.API.World, set, profile, rec, nil, false, fewJudged); v.read == nil {
		return nil, errors.New(v.Missing)
	}
	for i := range v.Judged {
		v.Judged[i].Idle = nil // a hundred rules for each call, on each pause; a question shows them
	}
	t := v.read.Tree
	for i, call := range t.Calls {
		if i == maxCalls {
			v.More += len(t.Calls) - i
			break
		}
		view := callOf(call.Name, call.Arguments)
		view.Strategy = call.Strategy
		view.Became = string(guard.OutcomeOf(&tools.Call{Name: call.Name, Arguments: call.Arguments,
			Repairs: call.Repairs}))
		for _, fix := range call.Repairs {
			if !guard.ByPolicy(fix) {
				view.Repairs = append(view.Repairs, shownRepair(fix))
			}
		}
		v.Calls = append(v.Calls, view)
	}
	for i, f := range t.Refused {
		if i == maxCalls {
			v.More += len(t.Refused) - i
			break
		}
		view := callOf(f.Name, []byte(f.Text))
		view.Became, view.Why = string(f.Code), shown(f.Why)
		v.Refused = append(v.Refused, view)
	}
	v.Content, v.Thought, v.Finish = shownHead(t.Content), shownHead(t.Reasoning), t.Finish
	return v, nil
}

// clip shortens one side of a difference.
func clip(s string) string {
	p := head(s, maxDiffer)
	if p.More > 0 {
		p.Text += "…"
	}
	return p.Text
}
