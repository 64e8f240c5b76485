package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// aCall is a call that explain was asked about, in place of a reply.
type aCall struct {
	command, path, url string
	tool               string // that would run; empty: the usual one
	arguments          string // of the tool, in place of the three
}

func (c *aCall) given() bool {
	return c.command != "" || c.path != "" || c.url != "" || c.arguments != ""
}

// call is the tool and its arguments.
func (c *aCall) call() (tool string, args json.RawMessage, err error) {
	n := 0
	if c.arguments != "" {
		n, tool, args = 1, c.tool, json.RawMessage(c.arguments)
		if tool == "" {
			return "", nil, errors.New("--arguments needs --tool, the name of the tool")
		}
	}
	for _, kind := range []struct{ value, tool, key string }{
		{c.command, "exec", "command"}, {c.path, "read", "path"}, {c.url, "web_fetch", "url"},
	} {
		if kind.value != "" {
			n++
			tool, args = cmp.Or(c.tool, kind.tool), openai.AppendString(fmt.Appendf(nil, `{"%s":`, kind.key), kind.value)
			args = append(args, '}')
		}
	}
	if n > 1 {
		return "", nil, errors.New("take one of --command, --path, --url and --arguments")
	}
	return tool, args, nil
}

// explain shows what each set of rules says of the call.
func (c *aCall) explain(sets []*ruleset.Set, x *explaining, env Env) error {
	tool, args, err := c.call()
	if err != nil {
		return err
	}
	trees := make([]*guard.Explanation, len(sets))
	for i, set := range sets {
		if trees[i], err = x.world(env).Explain(set, tool, args); err != nil {
			return err
		}
	}
	return show(x, trees, func(t *guard.Explanation) []row { return callRows(t, x.all) }, env)
}

// maxIdle is how many rules that do not hold are shown unasked.
const maxIdle = 10

// callRows are the lines about a call: the decision, what is known of it, then the rules.
// Many that do not hold are only counted, unless all are to be shown.
func callRows(t *guard.Explanation, all bool) []row {
	var r rows
	r.add(0, plain, "", "rules %s, %s %s, class %s", t.Version, clipped(t.Tool), clipped(string(t.Arguments)), t.Class)
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
		r.add(1, faint, "", "%d more rules do not hold; --all shows them", idle)
	}
	return r.list
}

func (r *rows) verdict(v *ruleset.Verdict) {
	says, in := "does not hold", faint
	switch {
	case v.Error != "":
		says, in = "fails: "+v.Error, red
	case v.Holds:
		says, in = "holds", effectInk(v.Effect)
	}
	r.add(1, in, v.Place, "%-5s  %s  %s", v.Effect, v.Rule, says)
	if v.Term != nil {
		r.term(v.Term, 3)
	}
}

// decision is the line of one decision, with what a dry run would have denied.
func (r *rows) decision(d *replay.TreeDecision) {
	words := fmt.Sprintf("%s %s", d.Effect, clipped(d.Tool))
	if d.Why != "" {
		words += ": " + clipped(d.Why)
	}
	r.add(0, effectInk(d.Effect), d.Place, "policy     %s (rule %s)", words, cmp.Or(d.Rule, "default"))
	for _, f := range d.Audits {
		r.add(1, red, f.Place, "         would be denied: %s (rule %s)", clipped(f.Why), f.Rule)
	}
}

func effectInk(e policy.Effect) ink {
	if e == policy.Allow {
		return green
	}
	return red
}
