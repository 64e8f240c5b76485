package cli

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

func rulesCommand(env Env) *cobra.Command {
	t := RulePrinter{Out: env.Out}
	var address, by string
	var never bool
	c := &cobra.Command{
		Use:   "rules",
		Short: "What rules a server has and had, and which never fire",
		Long: `Ask a running server about its rules: what came into force, when and by whom, how two
versions differ, and how often each rule fired; or put an earlier version back.

The address of the admin API comes from --admin or ` + config.Prefix + `ADMIN, its
token from ` + config.Prefix + `ADMIN_TOKEN.`,
		Example: `  gpt-oss-executor rules log --admin 127.0.0.1:8002
  gpt-oss-executor rules hits --never --admin 127.0.0.1:8002`,
	}
	c.PersistentFlags().StringVar(&address, "admin", "", "`HOST:PORT` of the server's admin API")
	add := func(use, short, example string, args cobra.PositionalArgs,
		run func(ctx context.Context, args []string) error) *cobra.Command {
		sub := &cobra.Command{Use: use, Short: short, Example: "  gpt-oss-executor rules " + example,
			Args: args, RunE: func(c *cobra.Command, args []string) (err error) {
				if t.Admin, err = AdminFrom(address, c, env); err != nil {
					return err
				}
				if t.Admin == nil {
					return errors.New("which server? Name its admin API with --admin, such as 127.0.0.1:8002")
				}
				defer t.Admin.Close()
				return run(c.Context(), append(args, "", ""))
			}}
		c.AddCommand(sub)
		return sub
	}
	log := add("log", "List what came into force, the newest first", "log", Arguments(0, 0),
		func(ctx context.Context, _ []string) error { return t.Log(ctx) })
	add("diff [FROM [TO]]", "Show how two versions differ (without TO: that in force)", "diff 3f2a9c01b7de",
		Arguments(0, 2),
		func(ctx context.Context, args []string) error { return t.Diff(ctx, args[0], args[1]) })
	hits := add("hits", "Show how often each rule fired since the server started", "hits --never",
		Arguments(0, 0), func(ctx context.Context, _ []string) error { return t.Hits(ctx, never) })
	hits.Flags().BoolVar(&never, "never", false, "only rules that never fired")
	back := add("rollback [VERSION]", "Put a version back (without VERSION: the one before)",
		"rollback 3f2a9c01b7de", Arguments(0, 1), func(ctx context.Context, args []string) error {
			user, _ := env.Lookup("USER")
			return t.Rollback(ctx, args[0], cmp.Or(by, user))
		})
	back.Flags().StringVar(&by, "by", "", "`NAME` of who does it, for the log (without it: $USER)")
	for _, sub := range []*cobra.Command{log, hits} {
		JSONFlag(sub, &t.JSON, "one document")
	}
	return c
}
