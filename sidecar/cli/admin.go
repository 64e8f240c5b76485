package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

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
