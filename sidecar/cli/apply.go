package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

func applyCommand(env Env) *cobra.Command {
	a := NewRollout(env)
	var admin string
	var undo bool
	c := &cobra.Command{
		Use: "apply DIR",
		Args: func(c *cobra.Command, args []string) error {
			if undo {
				return Arguments(0, 0)(c, args)
			}
			return Arguments(1, 1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			if len(args) == 1 {
				a.From = args[0]
			}
			if a.Admin, err = AdminFrom(admin, c, env); err != nil {
				return err
			}
			if a.Admin != nil {
				defer a.Admin.Close()
			} else if c.Flags().Changed("wait") {
				return Misused(c, errors.New("--wait has an effect only with --admin"))
			}
			ctx, stop := UntilStopped(c)
			defer stop()
			return a.Run(ctx)
		},
	}
	f := c.Flags()
	f.StringVar(&a.Target, "rules", "",
		"folder `DIR` of the server (without it: the one that the server at --admin names)")
	PolicyFlag(c, env, &a.Policy)
	f.StringVar(&admin, "admin", "", "`HOST:PORT` of the server's admin API")
	f.BoolVar(&undo, "undo", false, "bring back the files that were there before")
	f.DurationVar(&a.Wait, "wait", 10*time.Second, "`TIME` that the server may take")
	return c
}

// NewRollout returns a rollout with its defaults, which a command completes.
func NewRollout(env Env) Rollout {
	return Rollout{Loader: env.Loader(), Wait: 10 * time.Second, Out: env.Out, Err: env.Err,
		Builtin: func() (rulefile.Files, error) { return rulefile.Builtin(env.Defaults) }}
}
