package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

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
