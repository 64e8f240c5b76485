package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// approvalFlags holds the flags of one approvals command.
type approvalFlags struct {
	address string
	admin   *admin.Client
	json    bool
	all     bool
	watch   bool
	by      string
	why     string
	span    string
	env     Env
}

func approvalsCommand(env Env) *cobra.Command {
	a := approvalFlags{env: env}
	c := &cobra.Command{Use: "approvals"}
	c.PersistentFlags().StringVar(&a.address, "admin", "", "`HOST:PORT` of the server's admin API")
	command := func(use string, args cobra.PositionalArgs,
		run func(ctx context.Context, id, _ string) error) *cobra.Command {
		return adminCommand(env, use, args, &a.address, &a.admin, run)
	}
	list := command("list", Arguments(0, 0), a.list)
	JSONFlag(list, &a.json, "one document; with --watch, a line for each change")
	list.Flags().BoolVar(&a.all, "all", false, "also list calls that were answered or have expired")
	list.Flags().BoolVar(&a.watch, "watch", false, "keep running, and write each change")
	show := command("show ID", Arguments(1, 1), a.show)
	JSONFlag(show, &a.json, "one document")
	allow := command("allow ID", Arguments(1, 1), a.allow)
	allow.Flags().StringVar(&a.span, "for", "", "also let calls with the same reasons pass, for a `SPAN`: "+
		"task (until the user asks for something else), session (12 hours at most), or hour (in all sessions)")
	end := command("end ID", Arguments(1, 1), a.end)
	deny := command("deny ID", Arguments(1, 1), a.deny)
	deny.Flags().StringVar(&a.why, "why", "", "`TEXT` that the model is told")
	for _, answer := range []*cobra.Command{allow, deny, end} {
		answer.Flags().StringVar(&a.by, "by", "", "`NAME` of who answers, for the log (without it: $USER)")
	}
	c.AddCommand(list, show, allow, deny, end)
	return c
}

// list prints the waiting calls, and with --watch every change.
func (a *approvalFlags) list(ctx context.Context, _, _ string) error {
	list, err := a.admin.Approvals(ctx, "")
	if err != nil {
		return err
	}
	if a.watch {
		return a.follow(ctx, list)
	}
	if !a.all {
		list.Approvals = slices.DeleteFunc(list.Approvals,
			func(l admin.ListedApproval) bool { return !isOpen(l) })
	}
	var out Rows
	for _, l := range list.Approvals {
		out.List = append(out.List, approvalRow(l))
	}
	if len(list.Approvals) == 0 {
		out.Say("nothing waits for an answer")
	}
	return a.env.Printer(a.json).Document(list, out.List)
}

// isOpen reports whether a call waits or its grant is still valid.
func isOpen(l admin.ListedApproval) bool {
	return l.State == approvals.Pending || l.State == approvals.Granted
}

// follow prints the waiting calls, and then every change until ctx ends.
func (a *approvalFlags) follow(ctx context.Context, list admin.Approvals) error {
	seen := map[string]approvals.State{}
	for _, l := range list.Approvals {
		if !isOpen(l) && !a.all {
			seen[l.ID] = l.State
		}
	}
	p := a.env.Printer(a.json)
	for {
		for _, l := range list.Approvals {
			if seen[l.ID] != l.State {
				seen[l.ID] = l.State
				p.Item(l, []Row{approvalRow(l)})
			}
		}
		if err := p.Flush(); err != nil {
			return err
		}
		next, err := a.admin.Approvals(ctx, "?wait=5s&since="+strconv.FormatUint(list.Revision, 10))
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		list = next
	}
}

func (a *approvalFlags) show(ctx context.Context, id, _ string) error {
	got, err := a.admin.Approval(ctx, http.MethodGet, id, "", nil)
	if err != nil {
		return err
	}
	return a.env.Printer(a.json).Document(got, approvalRows(got))
}

func (a *approvalFlags) allow(ctx context.Context, id, _ string) error {
	got, err := a.admin.Approval(ctx, http.MethodPost, id, "/allow", map[string]string{"by": a.who(),
		"for": a.span})
	if err != nil {
		return err
	}
	var out Rows
	if got.State == approvals.Granted {
		out.Say("%s is allowed for %s, %s at most. It covers", got.ID, got.For.Words(),
			roughDuration(got.Remaining))
		out.covers(got)
		return a.env.Printer(false).Document(nil, out.List)
	}
	out.Say("%s is allowed. It passes once, if the model sends it again within %s", got.ID,
		roughDuration(got.Remaining))
	out.command(got)
	return a.env.Printer(false).Document(nil, out.List)
}

func (a *approvalFlags) end(ctx context.Context, id, _ string) error {
	got, err := a.admin.Approval(ctx, http.MethodPost, id, "/end", map[string]string{"by": a.who()})
	if err == nil {
		fmt.Fprintf(a.env.Out, "%s is ended. A person is asked about such calls again\n", got.ID)
	}
	return err
}

func (a *approvalFlags) deny(ctx context.Context, id, _ string) error {
	got, err := a.admin.Approval(ctx, http.MethodPost, id, "/deny", map[string]string{"by": a.who(),
		"why": a.why})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.env.Out, "%s is denied. The same call is refused for %s\n", got.ID, roughDuration(got.Remaining))
	return nil
}

func (a *approvalFlags) who() string {
	user, _ := a.env.Lookup("USER")
	return cmp.Or(a.by, user)
}

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

// AdminFrom returns a client of the admin API at the address of the flag or of the environment, with the
// token of the environment. The client is nil if neither names an address.
func AdminFrom(flag string, c *cobra.Command, env Env) (*admin.Client, error) {
	if !c.Flags().Changed("admin") {
		flag, _ = env.Lookup(config.Prefix + "ADMIN")
	}
	if flag == "" {
		return nil, nil
	}
	token, _ := env.Lookup(config.Prefix + "ADMIN_TOKEN")
	token, err := config.Secret(config.Prefix+"ADMIN_TOKEN", token)
	if err != nil {
		return nil, err
	}
	return admin.NewClient(flag, token)
}

// adminCommand returns a command that asks a server, at the address of a flag. run gets its arguments, empty
// where they are left out.
func adminCommand(env Env, use string, args cobra.PositionalArgs, address *string, to **admin.Client,
	run func(ctx context.Context, first, second string) error) *cobra.Command {
	return &cobra.Command{Use: use, Args: args, RunE: func(c *cobra.Command, args []string) (err error) {
		if *to, err = AdminFrom(*address, c, env); err != nil {
			return err
		}
		if *to == nil {
			return errors.New("which server? Name its admin API with --admin, such as 127.0.0.1:8002")
		}
		defer (*to).Close()
		ctx, stop := UntilStopped(c)
		defer stop()
		args = append(args, "", "")
		return run(ctx, args[0], args[1])
	}}
}
