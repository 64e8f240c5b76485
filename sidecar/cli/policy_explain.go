package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

func policyExplainCommand(env Env) *cobra.Command {
	var x explaining
	c := &cobra.Command{
		Use:   "explain",
		Short: "Show why a call is allowed or not: every fact and every rule",
		Long: `Show why a command may run, a path be read, or an address be fetched; or why not. First
come the facts: each program that can run, with its arguments, and what it reads, writes,
deletes and fetches. Then come the rules that hold, with each part of their conditions.
With --all the other rules are shown, too.

If --rules is given twice, it shows what differs, marked as diff does; builtin means the
built-in rules.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if !x.call.given() {
				return errors.New("nothing to explain: give --command, --path, --url, or --tool with --arguments")
			}
			sets, err := x.sets(env)
			if err != nil {
				return err
			}
			return x.call.explain(sets, &x, env)
		},
	}
	x.callFlags(c, "")
	c.Flags().BoolVar(&x.json, "json", false, "write it as JSON")
	return c
}
