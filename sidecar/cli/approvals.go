package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

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
	c := &cobra.Command{
		Use:   "approvals",
		Short: "Answer questions about calls that need a person's approval",
		Long: `Answer questions about calls that need a person's approval.

If a rule asks about a call and the gateway cannot ask a person, the call is refused and
waits here. If you allow it, it passes once, when the model sends exactly the same call
again in time. With --for, it and all calls of this agent with the same reasons pass without
a question, until the time is over or you end it; show says which calls these are. If you do
not answer in time, it stays refused. A restart of the server forgets all questions and
answers. Where there is a state folder, it remembers what you allowed with --for.

The address of the admin API comes from --admin or ` + config.Prefix + `ADMIN, its
token from ` + config.Prefix + `ADMIN_TOKEN. Without a token there are no approvals.`,
	}
	c.PersistentFlags().StringVar(&a.address, "admin", "", "`HOST:PORT` of the server's admin API")
	c.Example = `  gpt-oss-executor approvals list --watch --admin 127.0.0.1:8002
  gpt-oss-executor approvals allow k7pw-3mdx --admin 127.0.0.1:8002
  gpt-oss-executor approvals allow k7pw-3mdx --for session`
	list := a.command("list", "List the calls that wait for an answer", Arguments(0, 0),
		func(ctx context.Context, _ string) error { return a.list(ctx) })
	list.Example = `  gpt-oss-executor approvals list --all
  gpt-oss-executor approvals list --watch --json`
	JSONFlag(list, &a.json, "one document; with --watch, a line for each change")
	list.Flags().BoolVar(&a.all, "all", false, "also list calls that were answered or have expired")
	list.Flags().BoolVar(&a.watch, "watch", false, "keep running, and write each change")
	show := a.command("show ID", "Show everything about one call, nothing masked", Arguments(1, 1), a.show)
	show.Example = `  gpt-oss-executor approvals show k7pw-3mdx`
	JSONFlag(show, &a.json, "one document")
	allow := a.command("allow ID", "Let a call pass, once or with others like it", Arguments(1, 1),
		a.allow)
	allow.Example = `  gpt-oss-executor approvals allow k7pw-3mdx --by ada`
	allow.Flags().StringVar(&a.span, "for", "", "also let calls with the same reasons pass, for a `SPAN`: "+
		"task (until the user asks for something else), session (12 hours at most), or hour (in all sessions)")
	end := a.command("end ID", "End what you allowed with --for", Arguments(1, 1), a.end)
	end.Example = `  gpt-oss-executor approvals end k7pw-3mdx`
	deny := a.command("deny ID", "Refuse a call, or take back an approval that was not used",
		Arguments(1, 1), a.deny)
	deny.Example = `  gpt-oss-executor approvals deny k7pw-3mdx --why 'Ask in the channel first.'`
	deny.Flags().StringVar(&a.why, "why", "", "`TEXT` that the model is told")
	for _, answer := range []*cobra.Command{allow, deny, end} {
		answer.Flags().StringVar(&a.by, "by", "", "`NAME` of who answers, for the log (without it: $USER)")
	}
	c.AddCommand(list, show, allow, deny, end)
	return c
}

// command returns a subcommand. run gets the ID, or "" if the subcommand takes none.
func (a *approvalFlags) command(use, short string, args cobra.PositionalArgs,
	run func(ctx context.Context, id string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(c *cobra.Command,
		args []string) (err error) {
		if a.admin, err = AdminFrom(a.address, c, a.env); err != nil {
			return err
		}
		if a.admin == nil {
			return errors.New("which server? Name its admin API with --admin, such as 127.0.0.1:8002")
		}
		defer a.admin.Close()
		ctx, stop := UntilStopped(c)
		defer stop()
		id := ""
		if len(args) > 0 {
			id = args[0]
		}
		return run(ctx, id)
	}}
}

// list prints the waiting calls, and with --watch every change.
func (a *approvalFlags) list(ctx context.Context) error {
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

func (a *approvalFlags) show(ctx context.Context, id string) error {
	got, err := a.admin.Approval(ctx, http.MethodGet, id, "", nil)
	if err != nil {
		return err
	}
	return a.env.Printer(a.json).Document(got, approvalRows(got))
}

func (a *approvalFlags) allow(ctx context.Context, id string) error {
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

func (a *approvalFlags) end(ctx context.Context, id string) error {
	got, err := a.admin.Approval(ctx, http.MethodPost, id, "/end", map[string]string{"by": a.who()})
	if err == nil {
		fmt.Fprintf(a.env.Out, "%s is ended. A person is asked about such calls again\n", got.ID)
	}
	return err
}

func (a *approvalFlags) deny(ctx context.Context, id string) error {
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
