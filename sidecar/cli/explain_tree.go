package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

const (
	maxSteps  = 8  // of a strategy that are shown
	maxChange = 44 // characters up to which repairs stand in columns
)

// treeRows are the lines of a tree. What a model or an operator wrote is made
// harmless for a terminal.
func treeRows(t *replay.Tree) []Row {
	var r Rows
	r.Say("rules %s, profile %s, %s", t.Version, t.Profile, offeredWords(t))
	r.Say("reply: %s", shapeWords(t.Reply))
	width, quiet := 0, true
	for i := range t.Strategies {
		width = max(width, len(t.Strategies[i].ID))
	}
	for i := range t.Strategies {
		s := &t.Strategies[i]
		quiet = quiet && (s.Verdict == replay.VerdictNothing || s.Verdict == replay.VerdictDisabled)
		r.strategy(s, width)
	}
	for i := range t.Rest {
		r.step(&t.Rest[i], 1)
	}
	if quiet && len(t.Rest) == 0 {
		r.Add(1, Plain, "", "nothing in it looks like markup or a call")
	}
	for i := range t.Candidates {
		r.candidate(&t.Candidates[i])
	}
	for i := range t.Policy {
		if d := &t.Policy[i]; d.Effect != policy.Allow || len(d.Audits) > 0 {
			r.decision(d)
		}
	}
	r.Say("content    %q", t.Content)
	r.Say("reasoning  %q", t.Reasoning)
	r.Say("finish     %s", t.Finish)
	return r.List
}

func offeredWords(t *replay.Tree) string {
	switch {
	case t.Tools == nil:
		return "tools not known, so any name is taken"
	case len(t.Tools) == 0:
		return "no tools offered"
	}
	return "tools " + strings.Join(t.Tools, ", ")
}

func shapeWords(s replay.Shape) string {
	var parts []string
	if n := s.Content.Characters; n > 0 {
		parts = append(parts, fmt.Sprintf("content %d characters", n))
	}
	if n := s.Reasoning.Characters; n > 0 {
		parts = append(parts, fmt.Sprintf("reasoning %d characters", n))
	}
	if s.ToolCalls > 0 {
		parts = append(parts, fmt.Sprintf("tool_calls %d", s.ToolCalls))
	}
	if s.Status > 0 {
		parts = append(parts, fmt.Sprintf("recovered from the server's error %d", s.Status))
	}
	if len(parts) == 0 {
		return "empty"
	}
	return strings.Join(parts, ", ")
}

func (r *Rows) strategy(s *replay.TreeStrategy, width int) {
	r.Add(1, verdictInk(s.Verdict), s.Rule, "%-*s %4d  %s", width, s.ID, s.Priority, Clipped(s.Says))
	for i := range s.Calls {
		r.call(&s.Calls[i])
	}
	said := len(s.Calls) > 0
	for i := range s.Steps {
		step := &s.Steps[i]
		switch {
		case i == maxSteps:
			r.Add(3, faint, "", "… and %d more", len(s.Steps)-maxSteps)
			return
		case !said && strings.HasSuffix(s.Says, step.Says()): // the line of the strategy says it
			said = true
			r.Add(3, faint, "", "%s", spot(step))
		default:
			r.step(step, 3)
		}
		if step.Condition != nil {
			r.term(step.Condition, 4)
		}
	}
}

func (r *Rows) step(s *replay.TreeStep, level int) {
	r.Add(level, faint, "", "%s  %s", spot(s), Clipped(s.Says()))
}

// candidate shows why a text is a call, or is none.
func (r *Rows) candidate(c *parse.Candidate) {
	r.Add(1, Plain, "", "%s  %s, byte %d, %s: %s", c.Decision, c.Field, c.At, Clipped(c.Name), c.Says())
}

// spot is where a step looked.
func spot(s *replay.TreeStep) string {
	if s.Field == "tool_calls" {
		return fmt.Sprintf("tool_calls[%d]", s.From)
	}
	return fmt.Sprintf("%s, bytes %d to %d", s.Field, s.From, s.To)
}

func (r *Rows) call(c *replay.TreeCall) {
	named := false
	for _, fix := range c.Repairs {
		named = named || strings.HasPrefix(fix.Kind, "name.")
	}
	if !named {
		r.Add(3, Plain, "", "%s, as the model wrote it", Clipped(c.Name))
	}
	width := 0
	for _, fix := range c.Repairs {
		if n := utf8.RuneCountInString(changeWords(fix)); n <= maxChange {
			width = max(width, n)
		}
	}
	for _, fix := range c.Repairs {
		code := fix.Kind
		if fix.At > 0 {
			code += fmt.Sprintf(" at byte %d", fix.At)
		}
		r.Add(3, Plain, fix.Rule, "%-*s  %s", width, changeWords(fix), code)
	}
	r.Add(3, Bold, "", "= %s %s  (confidence %.2f)", Clipped(c.Name), c.Arguments, c.Confidence)
}

// changeWords says what a repair changed.
func changeWords(fix tools.Repair) string {
	from, to := quotedAtEnds(fix.From), quotedAtEnds(fix.To)
	switch {
	case fix.From == "" && fix.To == "":
		return "mended"
	case strings.HasPrefix(fix.Kind, "harmony."):
		return from // it says what was wrong, not what stood there
	case fix.From == "":
		return "added " + to
	case fix.To == "":
		return "dropped " + from
	}
	return from + " → " + to
}

// quotedAtEnds is text as it is, or in quotes where its ends would be lost.
func quotedAtEnds(s string) string {
	if s != strings.TrimSpace(s) {
		return fmt.Sprintf("%q", s)
	}
	return terminal.Printable(s)
}

// term shows a term of a condition, and below it those that it joins.
func (r *Rows) term(t *cond.Term, level int) {
	words, of := Clipped(t.Source), t.Of
	switch {
	case t.Op == "and":
		words = "all of"
	case t.Op == "or":
		words = "one of"
	case t.Op == "not" && t.Of[0].Op == "and":
		words, of = "not all of", t.Of[0].Of
	case t.Op == "not" && t.Of[0].Op == "or":
		words, of = "none of", t.Of[0].Of
	case t.Error != "":
		words += "  (" + t.Error + ")"
	}
	if t.Spare {
		words += "  (not asked)"
	}
	r.Add(level, termInk(t), t.Place, "%-5s  %s", t.Value, words)
	for i := range of {
		r.term(&of[i], level+1)
	}
}

func termInk(t *cond.Term) Ink {
	switch {
	case t.Spare:
		return faint
	case t.Value == "true":
		return Green
	}
	return Red
}

func verdictInk(v replay.Verdict) Ink {
	switch v {
	case replay.VerdictFound:
		return Green
	case replay.VerdictRefused, replay.VerdictCondition:
		return Red
	case replay.VerdictHandled:
		return Plain
	}
	return faint
}
