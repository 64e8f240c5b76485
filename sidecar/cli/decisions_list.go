package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
)

func (l *logged) listCommand() *cobra.Command {
	c := l.command("list", "List decisions, one on each line, the newest last", cobra.NoArgs, func(dir string, _ []string) error { return l.list(dir) })
	l.filters(c)
	return c
}

// list writes the decisions that are chosen as they are read, so the columns are fixed.
func (l *logged) list(dir string) error {
	w := bufio.NewWriter(l.env.Out)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	p := paper{out: w, colours: terminal.ColoursOf(l.env.Out, l.env.lookup)}
	filter, damaged := l.chosen(), 0
	var failed error
	err := decisions.Read(dir, func(r *decisions.Record, broken error) bool {
		switch {
		case broken != nil:
			damaged++
			fmt.Fprintln(l.env.Err, broken)
		case !filter.Takes(r):
		case l.json:
			failed = enc.Encode(hashed{r, r.Hash})
		default:
			p.rows([]row{decisionRow(r)})
		}
		return failed == nil
	})
	if err == nil {
		err = failed
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil && damaged > 0 {
		err = fmt.Errorf("%d lines are damaged; run: gpt-oss-executor decisions verify", damaged)
	}
	return err
}

// hashed is a record with its hash, as JSON shows it.
type hashed struct {
	*decisions.Record
	Hash decisions.Sum `json:"hash"`
}

// decisionRow is a decision on one line.
func decisionRow(r *decisions.Record) row {
	d := r.Decision
	text := fmt.Sprintf("%7d  %s  %-5s  %-7s  %-10s  %-18s  %s", r.Seq, r.Time.Format(time.DateTime), d.Effect, d.Outcome,
		d.Tool, d.RuleName(), briefly(d.Arguments))
	for _, f := range d.Findings {
		text += "  (dry run: " + f.Rule + ")"
	}
	if d.Approval != "" {
		text += "  (approval " + d.Approval + ")"
	}
	return row{text: terminal.Printable(text), ink: inkOf(d.Effect)}
}

// briefly is the one argument of a call that says most, or all of them.
func briefly(args json.RawMessage) string {
	var in map[string]any
	if json.Unmarshal(args, &in) == nil {
		for _, key := range []string{"command", "path", "url"} {
			if s, ok := in[key].(string); ok {
				return clipped(s)
			}
		}
	}
	return clipped(string(args))
}

func inkOf(e policy.Effect) ink {
	switch e {
	case policy.Allow:
		return plain
	case policy.Audit:
		return bold
	}
	return red
}

func (l *logged) showCommand() *cobra.Command {
	c := l.command("show SEQ", "Show everything about one record", cobra.ExactArgs(1), func(dir string, args []string) error {
		seq, err := strconv.ParseUint(args[0], 10, 64)
		if err != nil {
			return fmt.Errorf("decisions: %q is not the number of a record", args[0])
		}
		return l.show(dir, seq)
	})
	c.Flags().BoolVar(&l.json, "json", false, "write JSON")
	return c
}

func (l *logged) show(dir string, seq uint64) error {
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
	if l.json || found.Decision == nil {
		return writeJSON(l.env.Out, hashed{found, found.Hash})
	}
	paper{out: l.env.Out, colours: terminal.ColoursOf(l.env.Out, l.env.lookup)}.rows(recordRows(found))
	return nil
}

// recordRows are the lines about one decision; what is not known is left out.
func recordRows(r *decisions.Record) []row {
	d := r.Decision
	list := []row{{text: fmt.Sprintf("%d  %s", r.Seq, r.Time.Format(time.RFC3339Nano)), ink: bold}}
	add := func(name, value, place string) {
		if value != "" {
			list = append(list, row{text: fmt.Sprintf("%-10s %s", name, terminal.Printable(value)), place: place})
		}
	}
	effect := fmt.Sprintf("%s, %s", d.Effect, d.Outcome)
	if !d.Enforced {
		effect += ", not enforced"
	}
	add("effect", effect, "")
	add("rule", d.RuleName(), d.Place)
	add("why", d.Why, "")
	add("instead", d.Instead, "")
	for _, f := range d.Findings {
		add("dry run", f.Rule+": "+f.Why, f.Place)
	}
	add("tool", strings.TrimSpace(d.Tool+"  "+d.Class), "")
	add("arguments", string(d.Arguments), "")
	if d.Masked > 0 {
		add("masked", fmt.Sprintf("%d secrets", d.Masked), "")
	}
	if d.Bytes > 0 {
		add("too long", fmt.Sprintf("%d bytes", d.Bytes), "")
	}
	for _, id := range []struct{ name, value string }{
		{"call", d.Call}, {"request", d.Request}, {"approval", d.Approval}, {"session", d.Session}, {"agent", d.Agent}, {"channel", d.Channel},
		{"model", d.Model}, {"strategy", d.Strategy}, {"rules", d.Rules},
	} {
		add(id.name, id.value, "")
	}
	if d.Took > 0 {
		add("took", d.Took.String(), "")
	}
	add("hash", r.Hash.String(), "")
	return list
}
