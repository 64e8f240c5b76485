package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
)

// approvalRow describes a call on one line of a list.
func approvalRow(l admin.ListedApproval) Row {
	expiry, who, note := "", l.By, l.Note
	switch l.State {
	case approvals.Pending:
		expiry, who, note = roughDuration(l.Remaining), l.Rule, l.Why
	case approvals.Allowed:
		expiry = roughDuration(l.Remaining)
	case approvals.Granted:
		expiry, note = roughDuration(l.Remaining), "for "+l.For.Words()+", "+strings.Join(l.Covers, "; ")
	}
	what := l.Tool
	if l.Agent != "" {
		what += " by " + l.Agent
	}
	text := fmt.Sprintf("%-9s  %-8s %7s  %s: %s", l.ID, l.State, expiry, what, l.Text)
	if because := strings.Trim(who+": "+note, ": "); because != "" {
		text += "  (" + because + ")"
	}
	return Row{Text: terminal.Printable(text)}
}

// roughDuration formats a number of seconds for people.
func roughDuration(seconds float64) string {
	return (time.Duration(seconds) * time.Second).String()
}

// approvalRows lists all that a person needs to know before an answer.
func approvalRows(a admin.Approval) []Row {
	var r Rows
	r.Say("%s is %s, for another %s; the model has sent it %d×", a.ID, a.State, roughDuration(a.Remaining), a.Times)
	r.Field("  rule", a.Reason.Rule, a.Reason.Place)
	for _, f := range []struct{ name, value string }{
		{"why", a.Reason.Why}, {"instead", a.Reason.Instead}, {"tool", a.Call.Tool}, {"in", a.Call.Cwd}, {"agent", a.Call.Agent},
		{"session", a.Call.Session}, {"model", a.Call.Model}, {"rules", a.Call.Policy}, {"by", a.By}, {"note", a.Note},
	} {
		r.Field("  "+f.name, f.value, "")
	}
	if len(a.Covers) > 0 {
		r.Say("  allowed for a task, a session or an hour, it covers")
		r.covers(a)
		r.always(a)
	}
	r.command(a)
	if len(a.Call.Commands) > 0 {
		r.Say("  runs")
	}
	for _, c := range a.Call.Commands {
		r.Say("    %s", ranText(c))
	}
	for _, f := range a.Call.Files {
		r.Field("  file", f.Path+" sha256 "+cmp.Or(f.SHA256, "unknown: it cannot be read"), "")
	}
	return r.List
}

// covers adds the calls that a grant allows.
func (r *Rows) covers(a admin.Approval) {
	for _, line := range a.Covers {
		r.Say("    %s", line)
	}
}

// always adds the setting that allows the same for good.
func (r *Rows) always(a admin.Approval) {
	if !slices.ContainsFunc(a.Reason.All, func(of policy.Reason) bool { return of.Covers == "" }) {
		r.Say("  always: write this into exec.yaml")
		r.Say("    granted:")
		for _, of := range a.Reason.All {
			r.Say("      - {rule: %s, covers: %q}", cmp.Or(of.Rule, "default"), of.Covers)
		}
	}
}

// command adds the command with the part that made the policy ask underlined, or else the arguments. Each
// of its lines begins with a bar, so that none can be mistaken for output of this program.
func (r *Rows) command(a admin.Approval) {
	c := a.Call
	if c.Command == "" {
		for line := range strings.SplitSeq(a.Shown, "\n") {
			r.Say("  | %s", line)
		}
	} else {
		r.underlined(c.Command, a.Reason.Start, a.Reason.End)
		r.Field("  with", otherArguments(c), "")
	}
	if len(a.Foreign) > 0 { // characters that resemble others
		r.Say("  not ASCII %s", strings.Join(a.Foreign, ", "))
	}
}

// underlined adds the lines of a command, and underlines the bytes from start to end.
func (r *Rows) underlined(command string, start, end int) {
	start, end = min(max(start, 0), len(command)), min(max(end, 0), len(command))
	for line := range strings.SplitSeq(command, "\n") {
		r.Say("  | %s", approvals.Visible(line))
		from, to := max(start, 0), min(end, len(line))
		if from < to {
			before, marked := approvals.Visible(line[:from]), approvals.Visible(line[from:to])
			r.Say("    %s%s", strings.Repeat(" ", utf8.RuneCountInString(before)),
				strings.Repeat("^", utf8.RuneCountInString(marked)))
		}
		start, end = start-len(line)-1, end-len(line)-1
	}
}

// otherArguments formats the arguments without the command.
func otherArguments(c approvals.Call) string {
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Arguments), &args) != nil {
		return terminal.Printable(approvals.Visible(c.Arguments))
	}
	for name, raw := range args {
		var text string
		if json.Unmarshal(raw, &text) == nil && text == c.Command {
			delete(args, name)
		}
	}
	var rest []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		rest = append(rest, name+"="+string(args[name]))
	}
	return terminal.Printable(approvals.Visible(strings.Join(rest, " ")))
}

// ranText formats a program with its arguments so that their boundaries are visible.
func ranText(c approvals.Command) string {
	var words []string
	for _, w := range c.Argv {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\") {
			w = strconv.Quote(w)
		}
		words = append(words, w)
	}
	if c.Path != "" && len(words) > 0 {
		words[0] = c.Path
	}
	text := strings.Join(words, " ")
	if c.Cwd != "" {
		text += "   in " + c.Cwd
	}
	if len(c.Env) > 0 {
		text += "   sets " + strings.Join(c.Env, ", ")
	}
	return strings.ReplaceAll(approvals.Visible(text), "\n", " ")
}
