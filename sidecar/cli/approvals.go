package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
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
