package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

func policyExplainCommand(env Env) *cobra.Command {
	var x explaining
	c := &cobra.Command{
		Use:   "explain",
		Short: "Why may this run, or not? Every fact and every rule",
		Long: `Why may this command run, this path be read, this address be fetched, or not? First what
is known: each program that can run, with its arguments, what it reads, writes, deletes
and fetches. Then the rules that hold, with their conditions taken apart; --all shows the
others, too.

--rules given twice shows what differs, marked as diff does; builtin is the built-in
rules.`,
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
