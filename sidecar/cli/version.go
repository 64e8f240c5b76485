package cli

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
)

func versionCommand(env Env) *cobra.Command {
	var dir, policy string
	c := &cobra.Command{
		Use:  "version [DIR]",
		Args: cobra.MatchAll(Arguments(0, 1), notEmpty),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && c.Flags().Changed("rules") {
				return Misused(c, errors.New("name the folder once: as DIR, or with --rules"))
			}
			if len(args) == 0 && c.Flags().Changed("rules") {
				args = []string{dir}
			}
			return printVersion(env, policy, args...)
		},
	}
	RulesFlag(c, env, &dir)
	PolicyFlag(c, env, &policy)
	return c
}

// printVersion prints the version of the program, and of the rules if they can be read.
func printVersion(env Env, policy string, args ...string) error {
	var program built.Program
	if info, ok := debug.ReadBuildInfo(); ok {
		program = built.Of(info)
	}
	dir, named := env.rulesFolder(args, policy)
	_, files, err := ReadRules(dir, policy, env)
	if err != nil {
		fmt.Fprintf(env.Out, "gpt-oss-executor %s\n%s\n", program.Version, program)
		return err
	}
	fmt.Fprintf(env.Out, "gpt-oss-executor %s, rules %s: %s\n%s\n", program.Version, files.Version(), named,
		program)
	return nil
}
