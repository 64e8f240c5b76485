package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func policyCommand(env Env) *cobra.Command {
	c := &cobra.Command{Use: "policy"}
	c.AddCommand(policyCheckCommand(env), policyExplainCommand(env), policyProfileCommand(env),
		policyProgramCommand(env))
	return c
}

// policyCheck holds the flags of policy check.
type policyCheck struct {
	dir, locked string
	lines, json bool
	command     string
	path, op    string
	url, method string
	tool, args  string
	cwd, home   string
	alone       bool // no person can answer
	confined    bool
	client      string
}

func policyCheckCommand(env Env) *cobra.Command {
	var a policyCheck
	c := &cobra.Command{
		Use:  "check [FILE]",
		Args: Arguments(0, 1),
		RunE: func(c *cobra.Command, files []string) error {
			set, err := LoadRules(a.dir, a.locked, env)
			if err != nil {
				return err
			}
			if a.lines {
				return a.checkLines(c, set, files, env)
			}
			if len(files) > 0 {
				return fmt.Errorf("%q is not a flag: a command goes with --command, a path with --path; a file of questions goes with --jsonl", files[0])
			}
			return a.checkOne(c, set, env)
		},
	}
	a.flags(c, env)
	Modes(c, "jsonl: op method cwd home alone client confined rules policy",
		"command: tool cwd home alone client confined json rules policy",
		"path: op tool cwd home alone client json rules policy",
		"url: method tool alone client json rules policy",
		"arguments: tool cwd home alone client confined json rules policy",
		"tool: command path url arguments op method cwd home alone client confined json rules policy",
		": json cwd home alone client rules policy")
	c.Flags().BoolVar(&a.lines, "jsonl", false,
		"read one question on each line, write one answer on each line")
	JSONFlag(c, &a.json, "one document with all facts")
	return c
}

// flags adds the flags that describe one call.
func (a *policyCheck) flags(c *cobra.Command, env Env) {
	f := c.Flags()
	f.StringVar(&a.command, "command", "", "a shell `LINE`")
	f.StringVar(&a.path, "path", "", "a `PATH`")
	f.StringVar(&a.op, "op", "read", "what happens to the path: `OP` read, write or delete")
	f.StringVar(&a.url, "url", "", "an address, a `URL`")
	f.StringVar(&a.method, "method", "GET", "HTTP `METHOD` for the address")
	f.StringVar(&a.tool, "tool", "", "the name of a `TOOL`")
	f.StringVar(&a.args, "arguments", "", "its arguments, an object in `JSON`")
	f.StringVar(&a.cwd, "cwd", "", "the working folder `DIR` (without it: that of paths.yaml)")
	f.StringVar(&a.home, "home", "", "the home folder `DIR` (without it: that of paths.yaml)")
	f.BoolVar(&a.alone, "alone", false, "no person can answer, so ask becomes deny")
	f.BoolVar(&a.confined, "confined", false, "the kernel confines the command when it runs")
	f.StringVar(&a.client, "client", "",
		"the agent that would run it, by its `NAME` in rules/agents (without it: openclaw)")
	PolicyFlag(c, env, &a.locked)
	RulesFlag(c, env, &a.dir)
}

func (a *policyCheck) world(env Env) guard.World { return env.World(a.locked, a.dir) }

// question builds the question of the flags.
func (a *policyCheck) question(c *cobra.Command) *guard.Question {
	interactive := !a.alone
	q := &guard.Question{Tool: a.tool, Op: paths.Op(a.op), Method: a.method, Cwd: a.cwd, Home: a.home,
		Interactive: &interactive, Confined: a.confined, Client: a.client}
	for flag, to := range map[string]**string{"command": &q.Command, "path": &q.Path, "url": &q.URL} {
		if c.Flags().Changed(flag) {
			value := c.Flags().Lookup(flag).Value.String()
			*to = &value
		}
	}
	if a.args != "" {
		q.Arguments = json.RawMessage(a.args)
	}
	return q
}

// Exit codes of policy check.
const (
	exitAsk  = 3
	exitDeny = 4
)

func (a *policyCheck) checkOne(c *cobra.Command, set *ruleset.Set, env Env) error {
	if !slices.ContainsFunc([]string{"command", "path", "url", "tool"}, c.Flags().Changed) {
		return errors.New("there is no question: give --command, --path, --url, or --tool with --arguments")
	}
	r, err := a.world(env).Answer(set, a.question(c))
	if err != nil {
		return err
	}
	switch err := env.Printer(a.json).Document(r, rulingRows(r)); {
	case err != nil:
		return err
	case r.Effect == policy.Ask:
		return Exit(exitAsk)
	case r.Effect == policy.Deny:
		return Exit(exitDeny)
	}
	return nil
}

// rulingRows describes a ruling: the effect, then its reasons on a line each.
func rulingRows(r *guard.Ruling) []Row {
	var out Rows
	effect := string(r.Effect)
	if r.Rule != "" {
		effect += "  rule " + r.Rule + ", " + r.Place
	}
	out.Say("%s", effect)
	if r.Message != "" {
		out.Say("%s", r.Message)
	}
	for _, f := range r.Audits {
		out.dryRun(0, f)
	}
	return out.List
}

// dryRun adds what a rule in a dry run would do.
func (r *Rows) dryRun(level int, f policy.Finding) {
	says := "would be denied"
	if f.Effect == policy.Ask {
		says = "would be asked about"
	}
	r.Add(level, Red, f.Place, "%s: %s (rule %s)", says, Clipped(f.Why), cmp.Or(f.Rule, "default"))
}

// checkLines answers each question on its own line; a bad one does not stop the rest.
func (a *policyCheck) checkLines(c *cobra.Command, set *ruleset.Set, files []string, env Env) error {
	world, stated := a.world(env), a.question(c)
	return answerLines(files, env, func(l jsontext.Line) (any, json.RawMessage, error) {
		q := *stated
		if err := jsontext.Error(json.Unmarshal(l.Text, &q)); err != nil {
			return nil, q.ID, err
		}
		r, err := world.Answer(set, &q)
		return r, q.ID, err
	})
}

func policyExplainCommand(env Env) *cobra.Command {
	var x explainFlags
	var call callFlags
	c := &cobra.Command{
		Use:  "explain",
		Args: Arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			return call.explain(&x, env)
		},
	}
	call.flags(c, "")
	x.flags(c, env)
	Modes(c, append(callModes(), ": rules policy json")...)
	return c
}

// callFlags holds the flags that describe a call.
type callFlags struct {
	command, path, url string
	tool               string // of the call; empty: the usual one
	arguments          string // of the tool, instead of the three above
	client             string // empty: openclaw
	confined           bool
	all                bool // also show rules that do not match
}

// flags adds the flags. before is a prefix of their descriptions.
func (c *callFlags) flags(to *cobra.Command, before string) {
	f := to.Flags()
	f.StringVar(&c.command, "command", "", before+"may this shell `LINE` run?")
	f.StringVar(&c.path, "path", "", before+"may this `PATH` be read?")
	f.StringVar(&c.url, "url", "", before+"may this `URL` be fetched?")
	f.StringVar(&c.tool, "tool", "", "the `TOOL` of that call (without it: exec, read or web_fetch)")
	f.StringVar(&c.arguments, "arguments", "", before+"may this --tool be called with `JSON`, an object?")
	f.StringVar(&c.client, "client", "",
		"of a call: the agent that would run it, by its `NAME` in rules/agents (without it: openclaw)")
	f.BoolVar(&c.confined, "confined", false, "of a command: the kernel confines it when it runs")
	f.BoolVar(&c.all, "all", false, "of a call: also show the rules that do not hold")
}

// callModes returns the modes of these flags.
func callModes() []string {
	return []string{"command: tool client confined all json rules policy",
		"path: tool client all json rules policy", "url: tool client all json rules policy",
		"arguments: tool client confined all json rules policy",
		"tool: command path url arguments client confined all json rules policy"}
}

func (c *callFlags) given() bool {
	return *c != callFlags{all: c.all, confined: c.confined, client: c.client}
}

// explain prints what the rules decide about the call, and why.
func (c *callFlags) explain(x *explainFlags, env Env) error {
	tool, args, err := c.call()
	if err != nil {
		return err
	}
	sets, err := x.sets(env)
	if err != nil {
		return err
	}
	lines := func(t *guard.Explanation) []Row { return callRows(t, c.all) }
	return show(x, sets, env, lines, func(set *ruleset.Set) (*guard.Explanation, error) {
		return x.world(env).Explain(set, c.client, tool, args, c.confined)
	})
}

// call returns the tool and its arguments.
func (c *callFlags) call() (tool string, args json.RawMessage, err error) {
	if c.arguments != "" {
		tool, args = c.tool, json.RawMessage(c.arguments)
		if tool == "" {
			return "", nil, errors.New("--arguments needs --tool, the name of the tool")
		}
	}
	for _, kind := range []struct{ value, tool, key string }{
		{c.command, "exec", "command"}, {c.path, "read", "path"}, {c.url, "web_fetch", "url"},
	} {
		if kind.value != "" {
			tool, args = cmp.Or(c.tool, kind.tool), openai.AppendString(fmt.Appendf(nil, `{"%s":`, kind.key),
				kind.value)
			args = append(args, '}')
		}
	}
	if tool == "" {
		return "", nil, errors.New("nothing to explain: give --command, --path, --url, or --tool with --arguments")
	}
	return tool, args, nil
}

// maxIdle is how many rules without a match are shown without --all.
const maxIdle = 10

// callRows describes a call: the decision, its facts, then the rules. Without all, many rules that do not
// match are only counted.
func callRows(t *guard.Explanation, all bool) []Row {
	var r Rows
	r.Say("rules %s, %s %s, class %s", t.Version, Clipped(t.Tool), Clipped(string(t.Arguments)), t.Class)
	if f := t.Decision.Facts; f != nil && f.Call.Confined {
		r.Say("it runs confined: what the kernel holds needs no question")
	}
	r.decision(&replay.TreeDecision{Tool: t.Tool, Decision: t.Decision})
	r.facts(t.Decision.Facts)
	idle := 0
	for i := range t.Rules {
		if !t.Rules[i].Holds && t.Rules[i].Error == "" {
			idle++
		}
	}
	for i := range t.Rules {
		v := &t.Rules[i]
		if v.Holds || v.Error != "" || all || idle <= maxIdle {
			r.verdict(v)
		}
	}
	if !all && idle > maxIdle {
		r.Add(1, faint, "", "%d more rules do not hold; --all shows them", idle)
	}
	return r.List
}

func (r *Rows) verdict(v *ruleset.Verdict) {
	says, in := "does not hold", faint
	switch {
	case v.Error != "":
		says, in = "fails: "+v.Error, Red
	case v.Holds:
		says, in = "holds", EffectInk(v.Effect)
	}
	r.Add(1, in, v.Place, "%-5s  %s  %s", v.Effect, v.Rule, says)
	if v.Term != nil {
		r.term(v.Term, 3)
	}
}

// decision adds one decision, and what a dry run would have denied.
func (r *Rows) decision(d *replay.TreeDecision) {
	words := fmt.Sprintf("%s %s", d.Effect, Clipped(d.Tool))
	if d.Why != "" {
		words += ": " + Clipped(d.Why)
	}
	r.Add(0, EffectInk(d.Effect), d.Place, "policy     %s (rule %s)", words, cmp.Or(d.Rule, "default"))
	for _, f := range d.Audits {
		r.dryRun(1, f)
	}
}

// EffectInk returns the ink of an effect.
func EffectInk(e policy.Effect) Ink {
	switch e {
	case policy.Allow:
		return Green
	case policy.Audit:
		return Bold
	}
	return Red
}
