package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
)

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
