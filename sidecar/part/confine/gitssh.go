package confine

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/gitremote"
)

// gitSSHCommand is ssh for git that runs confined.
func gitSSHCommand(env cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:                gitremote.Command,
		Short:              "Be ssh for git that runs confined",
		Hidden:             true,
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			protocol, _ := env.Lookup("GIT_PROTOCOL")
			proxy, _ := env.Lookup("http_proxy")
			ask, err := gitremote.ParseSSH(args, protocol)
			code := 255
			if err == nil {
				code, err = ask.Run(c.Context(), proxy, env.In, env.Stdout(), env.Err)
			}
			if err != nil {
				fmt.Fprintln(env.Err, "gpt-oss-executor "+gitremote.Command+":",
					terminal.Printable(err.Error()))
			}
			if code != 0 {
				return cli.Exit(code)
			}
			return nil
		},
	}
}
