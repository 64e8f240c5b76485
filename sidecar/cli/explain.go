package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

func explainCommand(env Env) *cobra.Command {
	var x explainFlags
	var call callFlags
	lines := false
	c := &cobra.Command{
		Use:  "explain [FILE]",
		Args: Arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case call.given() && len(args) > 0:
				return errors.New("--command, --path, --url and --arguments stand in place of a reply: leave out the file")
			case call.given():
				return call.explain(&x, env)
			case len(x.dirs) == 2 && lines:
				return errors.New("--jsonl takes one --rules; for two of them there is: gpt-oss-executor eval OLD NEW FILE")
			}
			sets, err := x.sets(env)
			if err != nil {
				return err
			}
			if lines {
				return x.lines(sets[0], args, env)
			}
			return x.reply(sets, args, env)
		},
	}
	c.Flags().BoolVar(&lines, "jsonl", false, "read one record on each line, write one answer on each line")
	c.Flags().StringVar(&x.profile, "profile", "", "`PROFILE` of strategies.yaml")
	call.flags(c, "in place of a reply: ")
	x.flags(c, env)
	Modes(c, append(callModes(), "jsonl: profile rules policy", ": profile json rules policy")...)
	return c
}

// explainFlags holds the flags of explain and policy explain.
type explainFlags struct {
	dirs    []string
	policy  string
	profile string
	json    bool
}

func (x *explainFlags) flags(c *cobra.Command, env Env) {
	JSONFlag(c, &x.json, "one document")
	c.Flags().StringArrayVar(&x.dirs, "rules", nil,
		"folder `DIR` of rules, or builtin; given twice, the two are compared (without it: "+
			config.Prefix+"RULES, or else the built-in rules)")
	PolicyFlag(c, env, &x.policy)
}

// sets loads the rules: one set, or two to compare.
func (x *explainFlags) sets(env Env) (sets []*ruleset.Set, err error) {
	if len(x.dirs) == 0 {
		dir, _ := env.ruleSettings()
		x.dirs = []string{dir}
	}
	if len(x.dirs) > 2 {
		return nil, errors.New("--rules can be given twice, not more often")
	}
	for _, dir := range x.dirs {
		set, err := loadProfile(dir, x.policy, x.profile, env)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// world returns the surroundings in which calls are judged.
func (x *explainFlags) world(env Env) guard.World {
	return env.World(append([]string{x.policy}, x.dirs...)...)
}

// lines answers each record on its own line; a bad record does not stop the rest.
func (x *explainFlags) lines(set *ruleset.Set, args []string, env Env) error {
	world := x.world(env)
	return answerLines(args, env, func(l jsontext.Line) (any, json.RawMessage, error) {
		rec, err := parseRecord(l)
		if err != nil {
			return nil, rec.ID, err
		}
		e, err := replay.Explain(set, world, x.profile, rec)
		return e, rec.ID, err
	})
}

// reply explains one reply for people.
func (x *explainFlags) reply(sets []*ruleset.Set, args []string, env Env) error {
	doc, err := readDocument(args, env)
	if err != nil {
		return err
	}
	if replay.IsRequest(doc) {
		return show(x, sets, env, editRows,
			func(set *ruleset.Set) (*replay.EditedRequest, error) { return replay.ExplainRequest(set, doc) })
	}
	rec, err := replay.ParseRecord(doc)
	if err != nil {
		return err
	}
	return show(x, sets, env, treeRows, func(set *ruleset.Set) (*replay.Tree, error) {
		return replay.ExplainTree(set, x.world(env), x.profile, rec)
	})
}

// show prints the tree of one set, or the difference between two, as text or JSON.
func show[T any](x *explainFlags, sets []*ruleset.Set, env Env, lines func(*T) []Row,
	explain func(*ruleset.Set) (*T, error)) error {
	var trees []*T
	for _, set := range sets {
		tree, err := explain(set)
		if err != nil {
			return err
		}
		trees = append(trees, tree)
	}
	p := env.Printer(x.json)
	if len(trees) == 1 {
		return p.Document(trees[0], lines(trees[0]))
	}
	return p.Document(trees, difference(RulesName(x.dirs[0]), RulesName(x.dirs[1]), lines(trees[0]),
		lines(trees[1])))
}

const (
	maxSteps  = 8  // shown of a strategy
	maxChange = 44 // characters of a repair that is aligned in columns
)

// treeRows describes a tree. Text of models and operators is made safe for a terminal.
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
	if t.Frames > 0 {
		r.Add(1, faint, "", "%s of families: nothing that opens one", terminal.Count(t.Frames, "frame"))
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
	stated := len(s.Calls) > 0
	for i := range s.Steps {
		step := &s.Steps[i]
		switch {
		case i == maxSteps:
			r.Add(3, faint, "", "… and %d more", len(s.Steps)-maxSteps)
			return
		case !stated && strings.HasSuffix(s.Says, step.Says()): // already on the line of the strategy
			stated = true
			r.Add(3, faint, "", "%s", location(step))
		default:
			r.step(step, 3)
		}
		if step.Condition != nil {
			r.term(step.Condition, 4)
		}
	}
}

func (r *Rows) step(s *replay.TreeStep, level int) {
	r.Add(level, faint, "", "%s  %s", location(s), Clipped(s.Says()))
}

// candidate adds why a text is a call or not.
func (r *Rows) candidate(c *parse.Candidate) {
	r.Add(1, Plain, "", "%s  %s, byte %d, %s: %s", c.Decision, c.Field, c.At, Clipped(c.Name), c.Says())
}

// location returns where a step looked.
func location(s *replay.TreeStep) string {
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

// changeWords describes what a repair changed.
func changeWords(fix tools.Repair) string {
	from, to := quotedAtEnds(fix.From), quotedAtEnds(fix.To)
	switch {
	case fix.From == "" && fix.To == "":
		return "mended"
	case strings.HasPrefix(fix.Kind, "harmony."):
		return from // a description of the mistake, not the text that was there
	case fix.From == "":
		return "added " + to
	case fix.To == "":
		return "dropped " + from
	}
	return from + " → " + to
}

// quotedAtEnds returns the text, in quotes if it begins or ends with white space.
func quotedAtEnds(s string) string {
	if s != strings.TrimSpace(s) {
		return fmt.Sprintf("%q", s)
	}
	return terminal.Printable(s)
}

// term adds a term of a condition, and below it its operands.
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

// facts adds what a call can do.
func (r *Rows) facts(f *policy.Facts) {
	for _, line := range guard.FactLines(f, Clipped) {
		in := Plain
		if line.Bad {
			in = Red
		}
		r.Add(line.Level, in, "", "%s", line.Text)
	}
}

// editRows describes what edits.yaml makes of a request.
func editRows(e *replay.EditedRequest) []Row {
	var r Rows
	if len(e.Rules) == 0 {
		r.Say("edits.yaml has no rules")
	}
	for _, o := range e.Rules {
		r.Add(1, Plain, o.Rule, "%s  %s", o.ID, Clipped(o.Outcome))
	}
	r.Say("request    %s", Clipped(string(e.Request)))
	return r.List
}
