package ruleset

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	programs "github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// What happens to a path, and the classes of paths and URLs.
var (
	pathOps     = []string{string(paths.Read), string(paths.Write), string(paths.Delete)}
	pathClasses = paths.Classes()
	urlClasses  = []string{urls.Public, urls.Private, urls.Loopback, urls.Metadata, urls.Control,
		urls.Unknown, urls.BadScheme, urls.Malformed, urls.Dynamic}
)

// The codes of warnings: rules that load, and then do nothing or cost too much.
// They never change their meaning, and never stop a set from loading.
const (
	codeUnreachable = "W-unreachable" // a rule, or a part of its condition, without effect
	codeShadowed    = "W-shadowed"    // another rule makes it useless
	codeNever       = "W-never"       // a rule that can do nothing at all
	codeSlow        = "W-slow"        // a pattern that is expensive for every byte
	codeUntried     = "W-untried"     // a rule about commands without an example
	codeEmpty       = "W-empty"       // a test of all entries of a list that may be empty
)

// lint warns about valid rules without effect. It skips files with problems, which will change.
func (l *loader) lint() {
	if l.clean(strategiesFile) {
		for _, r := range doc[strategyFile](l, strategiesFile).Strategies {
			l.lintCondition(r.When, nil, l.domains(r.Kind))
		}
	}
	if l.clean(serversFile) {
		l.lintServers()
	}
	for _, name := range []string{execFilename, pathsFilename, urlsFilename, lockedName(execFilename),
		lockedName(pathsFilename), lockedName(urlsFilename)} {
		if l.clean(name) {
			l.lintPolicy(name)
		}
	}
	for _, t := range l.regexps {
		if l.clean(t.At.File()) {
			l.lintPattern(t)
		}
	}
}

// lintPolicy warns about the rules in a file about calls.
func (l *loader) lintPolicy(name string) {
	e, p, u := doc[execFile](l, name), doc[pathsFile](l, name), doc[urlsFile](l, name)
	rules, named := slices.Concat(e.Rules, p.Rules, u.Rules), slices.Concat(e.Lists, p.Lists, u.Lists)
	l.lintRules(rules, path.Base(name) == execFilename)
	domains := map[string][]string{"now.weekday": policy.Weekdays(), "tool_class": classNames}
	if path.Base(name) == execFilename {
		domains["class"] = classNames
		for _, s := range doc[strategyFile](l, strategiesFile).Strategies {
			domains["strategy"] = append(domains["strategy"], s.ID.Value)
		}
	}
	for _, r := range rules {
		l.lintCondition(r.When, named, domains)
	}
}

// lintResolved warns of texts with which no resolved path begins.
func (l *loader) lintResolved(when rulefile.Text, named rulefile.Lists) {
	for _, x := range cond.Comparisons(when, "startsWith", "in", "==") {
		for _, w := range sideWords(x.Right, named) {
			if x.Left.Name() == "resolved" && w.Value != "" && !path.IsAbs(w.Value) {
				l.warn(w.At, codeUnreachable, "resolved never begins with "+w.Value+": it is a whole path",
					`for a folder of the home: secret in roots, or resolved startsWith home and resolved contains "/NAME/"`)
			}
		}
	}
}

// domains returns the possible values of some variables in the condition of a strategy.
func (l *loader) domains(kind parse.Kind) map[string][]string {
	out := map[string][]string{"field": {string(parse.Content), string(parse.Reasoning)}}
	switch kind {
	case parse.Native:
		out["field"] = []string{"tool_calls"}
	case parse.Phrases:
		out["field"] = []string{string(parse.Content)}
	}
	if l.clean(serversFile) {
		out["server"] = append([]string{"generic"}, serverIDs(l.set.Servers)...)
	}
	if l.clean(modelsFile) {
		out["model"] = []string{"gpt-oss"} // of examples
		for _, m := range l.set.Models {
			out["model"] = append(out["model"], m.ID.Value)
		}
	}
	return out
}

// lintCondition warns of slow patterns, and of words that a variable never equals. domains are the possible
// values of some variables.
func (l *loader) lintCondition(when *rulefile.Text, named rulefile.Lists,
	domains map[string][]string) {
	if when == nil {
		return
	}
	l.checkWords(*when, named, func(subject string) domain { return domain{words: domains[subject]} })
	l.lintResolved(*when, named)
	for _, t := range cond.Patterns(*when) {
		l.lintPattern(t)
	}
}

// maxSteps is how many instructions a pattern may have without a warning. Each costs up to 7 ns for every
// byte (BenchmarkPatternSize of cond), so 1000 need half a second for the 64 KiB of a long error.
const maxSteps = 1000

// lintPattern warns about an expensive regular expression.
func (l *loader) lintPattern(t rulefile.Text) {
	if steps := cond.Steps(t.Value); steps > maxSteps {
		l.warn(t.All(), codeSlow,
			fmt.Sprintf("this pattern becomes %d steps, and more than %d are slow on long texts", steps,
				maxSteps),
			"use + or * instead of large counts such as {0,500}, or fewer alternatives")
	}
}

func (l *loader) warn(at rulefile.Place, code, msg, hint string) {
	p := at.Problem(code, msg, hint)
	p.Warning = true
	l.problems = append(l.problems, p)
}

// doc returns a decoded file; the zero value if there is none.
func doc[T any](l *loader, name string) T {
	out, _ := l.docs[name].(T)
	return out
}

// lintServers warns about dialects that no answer of a server selects and no model names.
func (l *loader) lintServers() {
	for i, s := range l.set.Servers {
		named := slices.ContainsFunc(l.set.Models, func(m Model) bool { return m.Server.Value == s.ID.Value })
		if len(s.Detect) > 0 && !named {
			l.lintProbes(s, l.set.Servers[:i])
		}
	}
}

// lintProbes warns about a server all of whose probes match an earlier one first.
func (l *loader) lintProbes(s Server, earlier []Server) {
	by := ""
	for _, p := range s.Detect {
		i := slices.IndexFunc(earlier, func(e Server) bool {
			return slices.ContainsFunc(e.Detect, func(q Probe) bool { return q.covers(p) })
		})
		if i < 0 {
			return
		}
		by = earlier[i].ID.Value + " " + relativePlace(earlier[i].ID.At, s.ID.At)
	}
	l.warn(s.ID.All(), codeUnreachable,
		fmt.Sprintf("%s is never recognised: %s comes first and fits the same answers", s.ID.Value, by),
		"put it in front, or tell the two apart by another probe")
}

// covers reports whether every answer that matches p matches q, too.
func (q Probe) covers(p Probe) bool {
	if q.Path != p.Path {
		return false
	}
	first, second := withoutSpace(q.Contains), withoutSpace(p.Contains)
	if first == "" || second == "" {
		return first == second // any JSON object, which a text need not stand in
	}
	return strings.Contains(second, first)
}

// withoutSpace removes white space, as for the comparison of answers.
func withoutSpace(s string) string { return strings.Join(strings.Fields(s), "") }

// domain is the set of values that a subject in a condition can have.
type domain struct {
	what  string // name of a closed set; empty: other values just never occur
	words []string
}

// closedDomain returns the closed domain of a subject in a file about calls with these classes; classes nil:
// class is not closed there.
func closedDomain(subject string, classes []string) domain {
	switch {
	case subject == "cmd.tags[]":
		return domain{"tag", append(slices.Sorted(maps.Keys(programs.Words("effects"))), shell.Tags()...)}
	case subject == "op":
		return domain{"op", pathOps}
	case subject == "class":
		return domain{"class", classes}
	case subject == "cmd.path_class":
		return domain{"class of paths", append(slices.Clone(pathClasses), "")}
	case strings.Contains(subject, "cmd.") && strings.HasSuffix(subject, ".class"):
		return domain{"class", slices.Concat(pathClasses, urlClasses)}
	}
	return domain{}
}

// checkWords reports words in a condition outside the domain of what they are compared with. In a closed set
// this is an error, since what should be denied would pass; otherwise a warning, and "" is always possible.
func (l *loader) checkWords(when rulefile.Text, named rulefile.Lists,
	of func(subject string) domain) {
	check := func(subject string, side cond.Side) {
		d := of(subject)
		if len(d.words) == 0 {
			return
		}
		for _, w := range sideWords(side, named) {
			switch {
			case slices.Contains(d.words, w.Value):
			case d.what != "":
				l.report(w.At, rulefile.CodeRef, "there is no "+d.what+" "+w.Value,
					rulefile.DidYouMean(w.Value, d.words))
			case w.Value != "":
				l.warn(w.At, codeUnreachable, subject+" is never "+w.Value+" here",
					rulefile.DidYouMean(w.Value, d.words))
			}
		}
	}
	for _, x := range cond.Comparisons(when, "in", "==", "!=") {
		check(x.Left.Source, x.Right)
		if x.Operator == "in" {
			check(x.Right.Source+"[]", x.Left)
		} else {
			check(x.Right.Source, x.Left)
		}
	}
}

// sideWords returns the words of one side, also of a named list.
func sideWords(side cond.Side, named rulefile.Lists) []rulefile.Text {
	for _, list := range named {
		if side.Name() == list.Key.Value {
			return mapSlice(list.Value,
				func(t rulefile.Text) rulefile.Text { return rulefile.Text{Value: t.Value, At: t.All()} })
		}
	}
	return side.Words()
}

// lintRules warns about rules that never decide, or not as they seem to.
func (l *loader) lintRules(rules []policyRule, isExec bool) {
	var before []splitTerms
	for _, r := range rules {
		t := splitRule(r)
		for _, b := range before {
			if b.covers(t) {
				l.warn(r.ID.All(), codeShadowed,
					fmt.Sprintf("%s never decides: whenever it holds, %s does, too", r.ID.Value,
						b.rule.ID.Value),
					"that stands "+relativePlace(b.rule.At, r.At)+"; delete one, or say what is different")
				break
			}
		}
		before = append(before, t)
		if r.When == nil {
			continue
		}
		named := func(name string) bool { return mentions(r.When, name) }
		switch {
		case r.Allow != nil && isExec && !named("cmd") && (named("command") || named("script")):
			l.warn(r.When.All(), codeNever, r.ID.Value+" allows no command: its condition does not name cmd",
				"a command is allowed program by program, such as cmd.binary == 'make'")
		case isExec && named("cmd") && len(r.Hit)+len(r.Miss) == 0:
			l.warn(r.ID.All(), codeUntried, r.ID.Value+" is never tried",
				"write a command for which it holds under hit, and one for which it does not under miss")
		}
		if r.Allow != nil {
			l.lintEmpty(*r.When)
		}
	}
}

// splitTerms is a rule with the terms of its condition that and joins.
type splitTerms struct {
	rule   policyRule
	effect policy.Effect // empty: a dry run, which hides nothing
	terms  []string
}

func splitRule(r policyRule) splitTerms {
	t := splitTerms{rule: r}
	switch {
	case r.Shadow || r.Audit != nil:
	case r.Deny != nil:
		t.effect = policy.Deny
	case r.Ask != nil || r.Unsure != nil:
		t.effect = policy.Ask
	case r.Allow != nil:
		t.effect = policy.Allow
	}
	if r.When == nil {
		return t
	}
	terms, ok := cond.Conjuncts(r.When.Value)
	if !ok {
		return splitTerms{rule: r}
	}
	t.terms = terms
	return t
}

// covers reports whether t holds whenever other does, with the same effect.
func (t splitTerms) covers(other splitTerms) bool {
	if t.effect == "" || t.effect != other.effect {
		return false
	}
	return !slices.ContainsFunc(t.terms,
		func(term string) bool { return !slices.Contains(other.terms, term) })
}

// lintEmpty warns of all in a rule that allows, since it holds for an empty list.
func (l *loader) lintEmpty(when rulefile.Text) {
	terms, _ := cond.Conjuncts(when.Value)
	for _, all := range cond.Loops(when, "all") {
		if !slices.Contains(terms, "len("+all.Over+") > 0") {
			l.warn(all.At, codeEmpty, "all holds for an empty list, too",
				"write len("+all.Over+") > 0 and … where there must be something")
		}
	}
}

// exampleTime is the time of the examples of rules: a Monday at noon.
var exampleTime = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

// checkRates checks calls of rate in a condition: what cannot be counted would be 0.
func (c *ruleCompiler) checkRates(when rulefile.Text) {
	for _, args := range cond.Calls(when, "rate") {
		if len(args) != 2 {
			continue // reported by the compiler
		}
		for i, arg := range args {
			at, words := arg.At(), arg.Words()
			if len(words) != 1 {
				c.report(at, cond.CodeExpr, "rate needs texts that are written out",
					"write rate('deletes', '10m') > 20")
				continue
			}
			s := words[0].Value
			if tool, ofTool := strings.CutPrefix(s, policy.RateOfTool); i == 0 &&
				!slices.Contains(policy.RateKinds(), s) && (!ofTool || tool == "") {
				c.report(at, rulefile.CodeValue, "rate does not count "+strconv.Quote(s),
					rulefile.DidYouMean(s, append(policy.RateKinds(), policy.RateOfTool+"NAME")))
			}
			if d, err := time.ParseDuration(s); i == 1 && (err != nil || d <= 0 || d > 24*time.Hour) {
				c.report(at, rulefile.CodeValue, s+" is not a window of time",
					"write 30s, 10m or 2h, up to 24h")
			}
		}
	}
}

// checkKnown checks that a program may be allowed by its name.
func (c *ruleCompiler) checkKnown(at rulefile.Text, name string) {
	if c.set.Programs.Knows(name) {
		return
	}
	c.report(at.All(), rulefile.CodeRef,
		name+" cannot be allowed by its name: no row describes what it does with its arguments",
		rulefile.DidYouMeanOr(name, c.set.Programs.Names(),
			"leave it out; a person is asked about programs without a row"))
}

// checkAllowed checks the programs that a rule allows by name: cmd.binary == 'x', or cmd.binary in [x, y] or
// in a list. What follows not allows nothing.
func (c *ruleCompiler) checkAllowed(r policyRule) {
	if r.Allow == nil || r.When == nil {
		return
	}
	for _, x := range cond.Asserted(*r.When) {
		if x.Left.Source != "cmd.binary" || x.Operator != "in" && x.Operator != "==" {
			continue
		}
		for _, name := range x.Right.Words() {
			if name.Value != "" {
				c.checkKnown(name, name.Value)
			}
		}
		for _, list := range c.named {
			if name := x.Right.Name(); name != "" && name == list.Key.Value {
				for _, entry := range list.Value {
					c.checkKnown(entry, entry.Value)
				}
			}
		}
	}
}
