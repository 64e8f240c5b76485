package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func (l *decisionFlags) replayCommand() *cobra.Command {
	var rules, locked string
	c := l.command("replay", Arguments(0, 0),
		func(dir string, _ []string) error {
			set, err := LoadRules(rules, locked, l.env)
			if err != nil {
				return err
			}
			return l.replay(dir, set, l.env.World(rules, locked, dir))
		})
	RulesFlag(c, l.env, &rules)
	PolicyFlag(c, l.env, &locked)
	l.filters(c)
	return c
}

func (l *decisionFlags) replay(dir string, set *ruleset.Set, in guard.World) error {
	filter, err := l.chosen()
	if err != nil {
		return err
	}
	p := l.env.Printer(l.json)
	t, err := decisions.Replay(dir, filter, in.Decider(set),
		func(c *decisions.Change) { p.Item(c, changeRows(c)) })
	if err != nil {
		return err
	}
	p.Item(map[string]any{"summary": t, "rules_version": set.Version}, tallyRows(t, set.Version))
	if err = p.Flush(); err == nil && t.Changed()+t.Damaged > 0 {
		err = ErrReported
	}
	return err
}

func changeRows(c *decisions.Change) []Row {
	var r Rows
	r.Add(0, EffectInk(c.New), "", "%7d  %s  %-5s → %-5s  %-10s  %s → %s  %s", c.Seq,
		c.Time.Format(time.DateTime), c.Old, c.New, c.Tool, c.OldRule, c.NewRule, MainArgument(c.Arguments))
	return r.List
}

func tallyRows(t *decisions.Tally, version string) []Row {
	var r Rows
	r.Say("rules %s: %d decisions", version, t.Records)
	for _, n := range []struct {
		what  string
		count int
		means string // "": the row is also shown for 0
	}{
		{"unchanged", t.Unchanged, ""}, {"newly denied", t.Denied, ""}, {"newly asked", t.Asked, ""}, {"newly allowed", t.Allowed, ""},
		{"not judged", t.Skipped, "  the log does not have all of their arguments"},
		{"with secrets", t.Masked, "  they are masked, so a rule that looks at one may decide differently"},
		{"damaged", t.Damaged, "  lines; run: gpt-oss-executor decisions verify"},
	} {
		if n.count > 0 || n.means == "" {
			r.Say("  %-13s  %6d%s", n.what, n.count, n.means)
		}
	}
	for _, sum := range t.Rules {
		r.Say("  %-24s denies %d, asks %d, allows %d", sum.Rule, sum.Denied, sum.Asked, sum.Allowed)
	}
	return r.List
}
