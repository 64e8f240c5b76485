package confine

import (
	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
)

// gitSSHCommand is ssh for git that runs confined.
func gitSSHCommand(env cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:                walls.SSH,
		Short:              "Be ssh for git that runs confined",
		Hidden:             true,
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			code := walls.RunSSH(c.Context(), args, env.Environ, env.In, env.Stdout(), env.Err)
			if code != 0 {
				return cli.Exit(code)
			}
			return nil
		},
	}
}
