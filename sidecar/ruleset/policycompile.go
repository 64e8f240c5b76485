package ruleset

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// ruleCompiler compiles the rules of one author.
type ruleCompiler struct {
	*loader
	author   *author
	roots    paths.Roots // of hit and miss
	words    cond.Lists
	named    rulefile.Lists // lists of the current file, with their places
	classes  []string       // possible classes in the current file
	worldSum string         // everything that an example depends on, except its rule
	order    int
	examples *[]func()
}

// operands yields what a rule is tried on, with its environment.
type operands[E any] func(*policy.Facts, policy.Moment) iter.Seq2[*E, policy.Operand]

// exec compiles exec.yaml. A rule whose condition names cmd is tried for each command; one that allows
// without a condition, for commands and calls.
func (c *ruleCompiler) exec(f execFile) {
	p := &c.author.policy
	for _, g := range f.Granted {
		p.Granted = append(p.Granted, policy.Reason{Rule: g.Rule.Value, Covers: g.Covers})
	}
	for _, r := range f.Rules {
		c.checkAllowed(r)
	}
	for _, r := range append(c.patterns(f), f.Rules...) {
		switch {
		case r.When == nil && r.Allow != nil:
			p.Calls = compileRule(c, p.Calls, r, callOperand)
			p.Commands = append(p.Commands, p.Calls[len(p.Calls)-1])
		case mentions(r.When, "cmd"):
			p.Commands = compileRule(c, p.Commands, r, (*policy.Facts).CommandEnvs)
		default:
			p.Calls = compileRule(c, p.Calls, r, callOperand)
		}
	}
}

// warnUnusedGrants warns of grants for rules that do not exist.
func (l *loader) warnUnusedGrants(granted []grantedRule, p *policy.Policy) {
	if len(granted) == 0 {
		return
	}
	known := slices.Concat([]string{defaultRule}, idsOf(p.Calls), idsOf(p.Commands), idsOf(p.Paths),
		idsOf(p.URLs))
	for _, g := range granted {
		if !slices.Contains(known, g.Rule.Value) {
			l.warn(g.Rule.All(), rulefile.CodeRef,
				"there is no rule "+g.Rule.Value+", so this grants nothing",
				rulefile.DidYouMeanOr(g.Rule.Value, known,
					"copy the item from gpt-oss-executor approvals show"))
		}
	}
}

func idsOf[E any](rules []policy.Rule[E]) []string {
	return mapSlice(rules, func(r policy.Rule[E]) string { return r.ID })
}

// callOperand yields the one operand of a rule about calls.
func callOperand(f *policy.Facts, m policy.Moment) iter.Seq2[*policy.Env, policy.Operand] {
	return func(yield func(*policy.Env, policy.Operand) bool) { yield(f.CallEnv(m), policy.Operand{}) }
}

// mentions reports whether a condition names a variable.
func mentions(when *rulefile.Text, name string) bool {
	if when == nil {
		return false
	}
	return cond.Names(when.Value)[name]
}

// compileRule compiles a rule, adds it to the list, and registers its examples.
func compileRule[E any](c *ruleCompiler, list []policy.Rule[E], r policyRule,
	on operands[E]) []policy.Rule[E] {
	c.checkID(r.ID)
	c.set.book.add(r.At, r.ID.Value)
	c.order++
	effect, why := c.effect(r)
	rule := policy.Rule[E]{
		ID: r.ID.Value, Place: r.At.String(), Effect: effect, Shadow: r.Shadow || r.Unsure != nil &&
			c.author.lenient, Why: why, Instead: r.Instead, Order: c.order,
		Facts: r.Unsure != nil || r.When != nil && !readsWords.MatchString(r.When.Value),
	}
	in := fmt.Sprint(reflect.TypeFor[E](), c.worldSum)
	if r.When != nil {
		in += r.When.Value + "\x00"
	}
	if r.When != nil && r.When.At.Known() {
		c.set.Counts.Conditions++
		c.checkRates(*r.When)
		c.checkWords(*r.When, c.named, func(subject string) domain {
			return closedDomain(subject,
				c.classes)
		})
		when, problem := predicate[E](c.Compiled, in, *r.When, c.words)
		if problem != nil {
			c.problems = append(c.problems, *problem)
		}
		rule.When = when
		needs := cond.Needs(r.When.Value, c.words)
		programs, tags := needs["cmd.binary"], needs["cmd.tags"]
		if delete(needs, "cmd.binary"); len(needs) == 0 || len(needs) == 1 && tags != nil {
			rule.Programs, rule.Tags = programs, tags
		}
	}
	c.author.rules = append(c.author.rules, newVerdict(rule, r.When, c.words, on))
	if r.When != nil && rule.When == nil { // it was reported
		return append(list, rule)
	}
	add := func(script rulefile.Text, want bool) {
		key := in + strconv.FormatBool(want) + script.Value
		*c.examples = append(*c.examples, func() {
			if c.Compiled.tryOnce(key, func() bool { return tryScript(c, rule, on, script, want) }) && want {
				c.countHit(rule.Place)
			}
		})
	}
	for _, e := range r.Hit {
		add(e, true)
	}
	for _, e := range r.Miss {
		add(e, false)
	}
	return append(list, rule)
}

// useLists sets the lists and classes of the next file.
func (c *ruleCompiler) useLists(named rulefile.Lists, env reflect.Type, classes []string) {
	c.words, c.named, c.classes = c.lists(named, env), named, classes
	if slices.Equal(classes, pathClasses) {
		c.words["look"] = append([]string{}, c.author.roots.Look...)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %+v %q", c.rowsSum, c.roots, c.words)) // maps print in order
	c.worldSum = string(sum[:])
}

// inOldList matches a condition over a list of earlier versions, of programs that may run.
var inOldList = regexp.MustCompile(`\bin (everyday|development)\b`)

// replaceLists gives conditions over a list of earlier versions the names of all programs with a row. It
// warns of these, and of such a list that no condition uses.
func (c *ruleCompiler) replaceLists(e execFile) {
	used := map[string]*rulefile.Text{}
	for _, r := range e.Rules {
		if r.When != nil {
			for _, m := range inOldList.FindAllStringSubmatch(r.When.Value, -1) {
				used[m[1]] = r.When
			}
		}
	}
	for _, list := range e.Lists {
		if name := list.Key.Value; used[name] == nil && inOldList.MatchString("in "+name) {
			c.warn(list.Key.All(), rulefile.CodeRef, "no rule uses the list "+name+" any more",
				"a program may run if it has a row in programs/*.yaml, or is one of allowed_commands")
		}
		delete(used, list.Key.Value)
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		c.words[name] = c.set.Programs.Names()
		c.warn(used[name].All(), rulefile.CodeRef, "the list "+name+" is gone, and means all programs with a row",
			"write the programs out, or cmd.known")
	}
}

// readsWords matches a condition that looks at the words of a command, or at what these name.
var readsWords = regexp.MustCompile(
	`\b(argv|operands|command|args|stdin|script|path|code_file|env|odd_env|reads|writes|deletes|urls)\b`)

// exampleRoots is the world of hit and miss.
var exampleRoots = paths.Roots{
	Cwd: "/srv/project", Home: "/home/agent",
	Write: []string{"/srv/project", "/tmp"}, Read: []string{"/usr", "/bin", "/sbin", "/lib"},
	Own: []string{"/home/agent/.openclaw", "/etc/gpt-oss-executor"}, Look: []string{"/home/agent", "/etc",
		"/var/log"},
}

// tryScript checks whether a rule holds for a shell script, confined or not, and reports a failure.
func tryScript[E any](l *ruleCompiler, r policy.Rule[E], on operands[E], script rulefile.Text,
	want bool) (passed bool) {
	facts := l.facts(script.Value, l.roots)
	holds := false
	for _, facts.Call.Confined = range []bool{false, true} {
		for env := range on(facts, policy.MomentOf(exampleTime, nil)) {
			yes, err := r.Holds(env)
			if err != nil {
				l.report(script.All(), codeExample, r.ID+" fails for this: "+err.Error(), "")
				return
			}
			holds = holds || yes
		}
	}
	switch {
	case holds && !want:
		l.report(script.All(), codeExample, r.ID+" holds for this, but should not",
			exampleHint(facts, script.Value))
	case !holds && want:
		l.report(script.All(), codeExample, r.ID+" does not hold for this", exampleHint(facts, script.Value))
	case holds:
		l.countHit(r.Place)
	}
	return holds == want
}

// facts returns the facts of an example.
func (c *ruleCompiler) facts(script string, roots paths.Roots) *policy.Facts {
	call := policy.NewCall("exec", string(tools.Exec), map[string]any{"command": script})
	call.Strategy, call.Confidence = "native", 1
	call.Subject = policy.Subject{Model: "gpt-oss", Interactive: true}
	return policy.Examine(call, policy.World{Guard: paths.Guard{Roots: roots}, Programs: c.set.Programs})
}

// exampleHint suggests why an example fails.
func exampleHint(facts *policy.Facts, script string) string {
	switch {
	case facts.Script != nil && !facts.Script.Parsed:
		return "this is no complete shell command; are all quotes closed?"
	case strings.Contains(script, "://") && !strings.Contains(script, " "):
		return "examples are shell commands: curl " + script
	}
	return "see what it sees: gpt-oss-executor policy explain --command '…'"
}

// exampleAt returns when and where the tests of rules happen.
func exampleAt() At {
	return At{Now: exampleTime, World: World{
		Cwd: exampleRoots.Cwd, Home: exampleRoots.Home, Write: exampleRoots.Write, Read: exampleRoots.Read,
		ReadFiles: []string{},
	}}
}

// decided counts the rules of a decision.
func (l *loader) decided(d policy.Decision) {
	l.countHit(d.Place)
	for _, f := range d.Audits {
		l.countHit(f.Place)
	}
}

// defaultRule names the default.
const defaultRule = "default"
