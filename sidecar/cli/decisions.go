package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// decisionFlags holds the flags of one decisions command.
type decisionFlags struct {
	dir    string
	json   bool
	since  time.Duration
	filter decisions.Filter
	env    Env
}

func decisionsCommand(env Env) *cobra.Command {
	l := decisionFlags{env: env}
	c := &cobra.Command{Use: "decisions"}
	c.PersistentFlags().StringVar(&l.dir, "decisions", "", "folder `DIR` of the log")
	c.AddCommand(l.listCommand(), l.showCommand(), l.verifyCommand(), l.headCommand(), l.replayCommand())
	return c
}

// command returns a subcommand that runs on the folder of a log.
func (l *decisionFlags) command(use string, args cobra.PositionalArgs,
	run func(dir string, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Args: args,
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := l.folder()
			if err != nil {
				return err
			}
			return run(dir, args)
		},
	}
}

// folder returns the folder of the log, by flag or settings.
func (l *decisionFlags) folder() (string, error) {
	dir := l.dir
	if s := l.env.DefaultSettings(); dir == "" {
		if err := s.Override(l.env.Environ); err != nil {
			return "", err
		}
		dir = service.DecisionsIn(s)
	}
	if dir == "" {
		return "", errors.New("decisions: no folder; give --decisions DIR, or set " + config.Prefix +
			"DECISIONS")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("decisions: %s: there is no such folder", dir)
	}
	return dir, nil
}

// filters adds the flags that select decisions.
func (l *decisionFlags) filters(c *cobra.Command) {
	f := c.Flags()
	f.DurationVar(&l.since, "since", 0, "only the last `TIME`, such as 2h or 168h")
	f.StringVar(&l.filter.Effect, "effect", "", "only this `EFFECT`: allow, audit, ask or deny")
	f.StringVar(&l.filter.Rule, "rule", "",
		"only what this `RULE` decided, also in a dry run; default stands for no rule")
	f.StringVar(&l.filter.Tool, "tool", "", "only calls of this `TOOL`")
	f.StringVar(&l.filter.Session, "session", "", "only this `SESSION`")
	f.StringVar(&l.filter.Agent, "agent", "", "only calls of this `AGENT`")
	f.StringSliceVar(&l.filter.Words, "words", nil,
		"only what has all these `WORDS`, with commas between them, in any case")
	JSONFlag(c, &l.json, "a line each")
}

// chosen returns the filter that the flags describe.
func (l *decisionFlags) chosen() (decisions.Filter, error) {
	f := l.filter
	effects := []string{string(policy.Allow), string(policy.Audit), string(policy.Ask), string(policy.Deny)}
	if f.Effect != "" && !slices.Contains(effects, f.Effect) {
		return f, fmt.Errorf("--effect is one of %s, not %q", strings.Join(effects, ", "), f.Effect)
	}
	if l.since > 0 {
		f.Since = time.Now().Add(-l.since)
	}
	return f, nil
}

func (l *decisionFlags) listCommand() *cobra.Command {
	c := l.command("list", Arguments(0, 0),
		func(dir string, _ []string) error { return l.list(dir) })
	l.filters(c)
	return c
}

// list prints the selected decisions while it reads them, which is why the columns have fixed widths.
func (l *decisionFlags) list(dir string) error {
	filter, err := l.chosen()
	if err != nil {
		return err
	}
	p, all, shown, damaged := l.env.Printer(l.json), 0, 0, 0
	err = decisions.Read(dir, func(r *decisions.Record, broken error) bool {
		switch {
		case broken != nil:
			damaged++
			fmt.Fprintln(l.env.Err, broken)
		case filter.Takes(r):
			shown++
			p.Item(hashed{r, r.Hash}, []Row{decisionRow(r)})
		}
		if broken == nil && (r.Decision != nil || r.Connection != nil) {
			all++
		}
		return p.Err == nil
	})
	if err == nil && shown == 0 && !l.json {
		p.Rows([]Row{{Text: fmt.Sprintf("no decision matches, of %d in %s", all, dir)}})
	}
	if err = errors.Join(err, p.Flush()); err == nil && damaged > 0 {
		err = fmt.Errorf("%d lines are damaged; run: gpt-oss-executor decisions verify", damaged)
	}
	return err
}

// hashed is a record with its hash in JSON.
type hashed struct {
	*decisions.Record
	Hash decisions.Sum `json:"hash"`
}

// decisionRow describes a decision on one line.
func decisionRow(r *decisions.Record) Row {
	if r.Connection != nil {
		return connectionRow(r)
	}
	d := r.Decision
	text := fmt.Sprintf("%7d  %s  %-5s  %-7s  %-10s  %-18s  %s", r.Seq, r.Time.Format(time.DateTime),
		d.Effect, d.Outcome,
		d.Tool, d.RuleName(), MainArgument(d.Arguments))
	for _, f := range d.Findings {
		text += "  (dry run: " + f.Rule + ")"
	}
	switch {
	case d.Grant != "":
		text += "  (allowed by the grant " + d.Approval + ", " + d.Grant + ")"
	case d.Approval != "":
		text += "  (approval " + d.Approval + ")"
	}
	return Row{Text: terminal.Printable(text), ink: EffectInk(d.Effect)}
}

// connectionRow describes a connection of a confined command on one line.
func connectionRow(r *decisions.Record) Row {
	c := r.Connection
	text := fmt.Sprintf("%7d  %s  %-5s  %-7s  %-10s  %-18s  %s %s", r.Seq, r.Time.Format(time.DateTime),
		c.Effect, c.Outcome,
		c.Tool, cmp.Or(c.Rule, "default"), c.Method, c.Server)
	if c.Times > 0 {
		text += fmt.Sprintf("  (%d times, sent %d bytes, received %d)", c.Times, c.Sent, c.Received)
	}
	for _, f := range c.Findings {
		text += "  (dry run: " + f.Rule + ")"
	}
	return Row{Text: terminal.Printable(text), ink: EffectInk(c.Effect)}
}

// MainArgument returns the most telling argument of a call, or else all of them.
func MainArgument(args json.RawMessage) string {
	var in map[string]any
	if json.Unmarshal(args, &in) == nil {
		for _, key := range []string{"command", "path", "url"} {
			if s, ok := in[key].(string); ok {
				return Clipped(s)
			}
		}
	}
	return Clipped(string(args))
}

func (l *decisionFlags) showCommand() *cobra.Command {
	c := l.command("show SEQ", Arguments(1, 1),
		func(dir string, args []string) error {
			seq, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil {
				return fmt.Errorf("decisions: %q is not the number of a record", args[0])
			}
			return l.show(dir, seq)
		})
	JSONFlag(c, &l.json, "one document")
	return c
}

func (l *decisionFlags) show(dir string, seq uint64) error {
	var found *decisions.Record
	var broken error
	err := decisions.Read(dir, func(r *decisions.Record, err error) bool {
		if r.Seq == seq {
			found, broken = r, err
		}
		return r.Seq < seq || err != nil
	})
	switch {
	case err != nil:
		return err
	case found == nil:
		return fmt.Errorf("decisions: there is no record %d in %s", seq, dir)
	case broken != nil:
		fmt.Fprintln(l.env.Err, broken)
	}
	p := l.env.Printer(l.json || found.Decision == nil)
	return p.Document(hashed{found, found.Hash}, recordRows(found))
}

// recordRows describes one decision; unknown fields are left out.
func recordRows(r *decisions.Record) []Row {
	d := r.Decision
	if d == nil {
		return nil
	}
	var out Rows
	out.Add(0, Bold, "", "%d  %s", r.Seq, r.Time.Format(time.RFC3339Nano))
	effect := fmt.Sprintf("%s, %s", d.Effect, d.Outcome)
	if !d.Enforced {
		effect += ", not enforced"
	}
	out.Field("effect", effect, "")
	out.Field("rule", d.RuleName(), d.Place)
	out.Field("why", d.Why, "")
	out.Field("instead", d.Instead, "")
	for _, f := range d.Findings {
		out.Field("dry run", f.Rule+": "+f.Why, f.Place)
	}
	out.Field("tool", strings.TrimSpace(d.Tool+"  "+d.Class), "")
	out.Field("arguments", string(d.Arguments), "")
	if d.Masked > 0 {
		out.Field("masked", terminal.Count(d.Masked, "secret"), "")
	}
	if d.Bytes > 0 {
		out.Field("too long", terminal.Count(d.Bytes, "byte"), "")
	}
	for _, id := range []struct{ name, value string }{
		{"call", d.Call}, {"request", d.Request}, {"approval", d.Approval}, {"grant", d.Grant},
		{"session", d.Session}, {"agent", d.Agent}, {"channel", d.Channel},
		{"model", d.Model}, {"strategy", d.Strategy}, {"rules", d.Rules},
	} {
		out.Field(id.name, id.value, "")
	}
	if d.Took > 0 {
		out.Field("took", d.Took.String(), "")
	}
	out.Field("hash", r.Hash.String(), "")
	return out.List
}

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

func (l *decisionFlags) verifyCommand() *cobra.Command {
	var heads []string
	c := l.command("verify [DIR...]", cobra.ArbitraryArgs,
		func(dir string, more []string) error {
			return l.verify(dir, more, heads)
		})
	c.Flags().StringArrayVar(&heads, "head", nil,
		"`SEQ:HASH` that decisions head printed earlier; can be given several times")
	JSONFlag(c, &l.json, "one document")
	return c
}

func (l *decisionFlags) verify(dir string, more, heads []string) error {
	var expect []decisions.Checkpoint
	for _, h := range heads {
		at, err := decisions.ParseCheckpoint(h)
		if err != nil {
			return err
		}
		expect = append(expect, at)
	}
	if len(more) > 0 {
		t, err := decisions.VerifyAll(append([]string{dir}, more...), expect...)
		if err != nil {
			return err
		}
		return l.verified(t, t.Lines(), t.Sound())
	}
	r, err := decisions.Verify(dir, expect...)
	if err != nil {
		return err
	}
	return l.verified(r, r.Lines(), len(r.Problems) == 0)
}

// verified prints the result.
func (l *decisionFlags) verified(doc any, lines []string, sound bool) error {
	var out Rows
	for _, line := range lines {
		out.Say("%s", line)
	}
	err := l.env.Printer(l.json).Document(doc, out.List)
	if err == nil && !sound {
		err = ErrReported
	}
	return err
}

func (l *decisionFlags) headCommand() *cobra.Command {
	c := l.command("head", Arguments(0, 0),
		func(dir string, _ []string) error {
			at, err := decisions.Last(dir)
			if err == nil && at.Seq == 0 {
				err = fmt.Errorf("decisions: there is no record in %s", dir)
			}
			if err == nil {
				_, err = fmt.Fprintf(l.env.Out, "%d:%s\n", at.Seq, at.Hash)
			}
			return err
		})
	return c
}
