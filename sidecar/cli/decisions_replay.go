package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

func (l *logged) replayCommand() *cobra.Command {
	var rules, locked string
	c := l.command("replay", "Decide the logged calls again, with other rules", cobra.NoArgs, func(dir string, _ []string) error {
		set, err := loadUnder(locked, rules, l.env)
		if err != nil {
			return err
		}
		return l.replay(dir, set, l.env.world(rules, locked, dir))
	})
	c.Long = `Let other rules decide about the calls in the log. It shows the calls that would be
decided differently, then the totals, and the rules that cause the difference.

  gpt-oss-executor decisions replay --rules rules.new --since 168h

Links on this disk are followed as they are now. Secrets are masked in the log: a rule that
looks at a secret may decide differently here, and such records are counted.

Exit code: 0 nothing would change, 1 something would or the log is damaged, 2 wrong usage.`
	rulesFlag(c, &rules)
	policyFlag(c, &locked)
	l.filters(c)
	return c
}

func (l *logged) replay(dir string, set *ruleset.Set, in guard.World) error {
	w := bufio.NewWriter(l.env.Out)
	p := paper{out: w, colours: terminal.ColoursOf(l.env.Out, l.env.lookup)}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	tell := func(c *decisions.Change) error {
		if l.json {
			return enc.Encode(c)
		}
		p.rows([]row{changeRow(c)})
		return nil
	}
	t, err := decisions.Replay(dir, l.chosen(), decider(set, in), tell)
	if err != nil {
		return err
	}
	if l.json {
		err = enc.Encode(map[string]any{"summary": t, "rules_version": set.Version})
	} else {
		writeTally(w, t, set.Version)
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil && t.Changed()+t.Damaged > 0 {
		err = errSaid
	}
	return err
}

// maxSessions is for how many sessions at once a replay counts what they did.
const maxSessions = 1 << 16

// decider lets a rule set decide about the calls of a log, each at its time. What a
// session did before is counted anew.
func decider(set *ruleset.Set, in guard.World) decisions.Decider {
	rates := state.NewRates(maxSessions)
	return func(r *decisions.Record) policy.Decision {
		d := r.Decision
		who := policy.Subject{Model: d.Model, Agent: d.Agent, Session: d.Session, Channel: d.Channel, Interactive: d.Interactive}
		call := tools.Call{Name: d.Tool, Arguments: d.Arguments, Strategy: d.Strategy, Confidence: d.Confidence}
		now := in.Decide(set, call, who, guard.Moment{Now: r.Time, Rates: rates.Session(d.Session, r.Time)})
		rates.Add(d.Session, r.Time, now.Counts())
		return now
	}
}

func changeRow(c *decisions.Change) row {
	text := fmt.Sprintf("%7d  %s  %-5s → %-5s  %-10s  %s → %s  %s", c.Seq, c.Time.Format(time.DateTime), c.Old, c.New, c.Tool, c.OldRule, c.NewRule, briefly(c.Arguments))
	return row{text: terminal.Printable(text), ink: inkOf(c.New)}
}

func writeTally(w io.Writer, t *decisions.Tally, version string) {
	fmt.Fprintf(w, "rules %s: %d decisions\n", version, t.Records)
	fmt.Fprintf(w, "  unchanged      %6d\n  newly denied   %6d\n  newly asked    %6d\n  newly allowed  %6d\n", t.Unchanged, t.Denied, t.Asked, t.Allowed)
	if t.Skipped > 0 {
		fmt.Fprintf(w, "  not judged     %6d  the log does not have all of their arguments\n", t.Skipped)
	}
	if t.Masked > 0 {
		fmt.Fprintf(w, "  with secrets   %6d  they are masked, so a rule that looks at one may decide differently\n", t.Masked)
	}
	if t.Damaged > 0 {
		fmt.Fprintf(w, "  damaged        %6d  lines; run: gpt-oss-executor decisions verify\n", t.Damaged)
	}
	for _, r := range t.Rules {
		fmt.Fprintf(w, "  %-24s denies %d, asks %d, allows %d\n", terminal.Printable(r.Rule), r.Denied, r.Asked, r.Allowed)
	}
}
