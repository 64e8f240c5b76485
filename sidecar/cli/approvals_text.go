package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
)

// approvalLine is a call in a list.
func approvalLine(l admin.ListedApproval) string {
	left := ""
	if l.State == approvals.Pending || l.State == approvals.Allowed {
		left = roughly(l.Left)
	}
	what := l.Tool
	if l.Agent != "" {
		what += " by " + l.Agent
	}
	line := fmt.Sprintf("%-9s  %-8s %7s  %s: %s", l.ID, l.State, left, terminal.Printable(what), terminal.Printable(l.Text))
	if l.State == approvals.Pending {
		return line + because(l.Rule, l.Why)
	}
	return line + because(l.By, l.Note)
}

// because is who said what, as far as it is known.
func because(who, what string) string {
	said := strings.Trim(terminal.Printable(who)+": "+terminal.Printable(what), ": ")
	if said == "" {
		return ""
	}
	return "  (" + said + ")"
}

// roughly is a time in seconds, in words.
func roughly(seconds float64) string {
	return (time.Duration(seconds) * time.Second).String()
}

// approvalText is all that a person needs for an answer.
func approvalText(a admin.Approval) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s, for another %s; the model has sent it %d×\n", a.ID, a.State, roughly(a.Left), a.Times)
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", name, terminal.Printable(value))
		}
	}
	where := a.Reason.Rule
	if a.Reason.Place != "" {
		where += " (" + a.Reason.Place + ")"
	}
	field("rule", where)
	field("why", a.Reason.Why)
	field("instead", a.Reason.Instead)
	field("tool", a.Call.Tool)
	field("in", a.Call.Cwd)
	field("agent", a.Call.Agent)
	field("session", a.Call.Session)
	field("model", a.Call.Model)
	field("rules", a.Call.Policy)
	field("by", a.By)
	field("note", a.Note)
	b.WriteString(commandText(a))
	if len(a.Call.Commands) > 0 {
		b.WriteString("  runs\n")
	}
	for _, c := range a.Call.Commands {
		fmt.Fprintf(&b, "    %s\n", ranText(c))
	}
	for _, f := range a.Call.Files {
		field("file", f.Path+" sha256 "+f.SHA256)
	}
	return b.String()
}

// commandText is the command with what made it ask underlined, or the arguments. A bar
// stands before each line, so that no line of it looks like one of ours.
func commandText(a admin.Approval) string {
	var b strings.Builder
	c := a.Call
	if c.Command == "" {
		for line := range strings.SplitSeq(a.Shown, "\n") {
			fmt.Fprintf(&b, "  | %s\n", line)
		}
		return b.String() + foreignText(a)
	}
	start, end := min(max(a.Reason.Start, 0), len(c.Command)), min(max(a.Reason.End, 0), len(c.Command))
	at := 0
	for line := range strings.SplitSeq(c.Command, "\n") {
		fmt.Fprintf(&b, "  | %s\n", approvals.Visible(line))
		from, to := max(start-at, 0), min(end-at, len(line))
		if from < to {
			before, marked := approvals.Visible(line[:from]), approvals.Visible(line[from:to])
			fmt.Fprintf(&b, "    %s%s\n", strings.Repeat(" ", utf8.RuneCountInString(before)), strings.Repeat("^", utf8.RuneCountInString(marked)))
		}
		at += len(line) + 1
	}
	if rest := otherArguments(c); rest != "" {
		fmt.Fprintf(&b, "  with      %s\n", rest)
	}
	return b.String() + foreignText(a)
}

// foreignText names characters that may look like others.
func foreignText(a admin.Approval) string {
	if len(a.Foreign) == 0 {
		return ""
	}
	return "  not ASCII " + strings.Join(a.Foreign, ", ") + "\n"
}

// otherArguments are those beside the command.
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

// ranText is a program with its arguments, each of which can be told from the next.
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
