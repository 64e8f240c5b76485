package cli

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand(env Env) *cobra.Command {
	var dir, policy string
	c := &cobra.Command{
		Use:   "version [DIR]",
		Short: "Print the version of this program and of its rules, or of those in DIR",
		Long: `Print the version of this program and of its rules, or of those in DIR. A server that
runs these rules shows the same version in X-Rules-Version, /metrics and GET /rules. So
you can compare a checkout with what is in force.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				if dir != "" {
					return errors.New("name the folder once: as DIR, or with --rules")
				}
				dir = args[0]
			}
			_, files, err := readRules(dir, policy, env)
			if err != nil {
				return err
			}
			version := "devel"
			if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
				version = info.Main.Version
			}
			fmt.Fprintf(env.Out, "gpt-oss-executor %s, rules %s\n", version, files.Version())
			return nil
		},
	}
	rulesFlag(c, &dir)
	policyFlag(c, &policy)
	return c
}
