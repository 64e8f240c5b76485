package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// rulesIn is a folder of rules over those of the program.
func rulesIn(dir string, env Env) (ruleset.Source, error) {
	builtin, err := ruleset.Builtin(env.Defaults)
	return ruleset.Source{Dir: dir, Builtin: builtin}, err
}

// loadRules compiles the rules and prints what is wrong with them.
func loadRules(dir string, env Env) (*ruleset.Set, error) {
	src, err := rulesIn(dir, env)
	if err != nil {
		return nil, err
	}
	return loadFrom(src, env)
}

// policyFlag is the flag for the locked folder.
func policyFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "policy", "", "locked folder of the security team, over the rules")
}

func loadFrom(src ruleset.Source, env Env) (*ruleset.Set, error) {
	files, err := src.Read()
	if err != nil {
		return nil, err
	}
	set, problems := ruleset.Load(files)
	if len(problems) > 0 {
		fmt.Fprintln(env.Err, problems.In(src).Error())
	}
	if set == nil {
		return nil, errSaid
	}
	return set, nil
}

func checkCommand(env Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Are these rules good? Every problem, with its place",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := ""
			if len(args) == 1 {
				dir = args[0]
			}
			began := time.Now()
			set, err := loadRules(dir, env)
			if err != nil {
				return err
			}
			n := set.Counts
			fmt.Fprintf(env.Out, "rules %s: %d files, %d conditions, %d patterns, %d examples, %d tests: ok (%d ms)\n",
				set.Version, n.Files, n.Conditions, n.Patterns, n.Examples, n.Tests, time.Since(began).Milliseconds())
			return nil
		},
	}
	return c
}
