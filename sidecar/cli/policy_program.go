package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

func policyProgramCommand(env Env) *cobra.Command {
	var dir, policy string
	c := &cobra.Command{
		Use:   "program [NAME [SUBCOMMAND]]",
		Short: "Show what is known of a program, or what a command does",
		Long: `Show what is known of a program: its options, what their values are, and its
effects. With a whole command in quotes, show what that does. Nothing is run.
Without a name, show the words that a row of rules/programs may use.`,
		Example: `  gpt-oss-executor policy program cp
  gpt-oss-executor policy program git push
  gpt-oss-executor policy program 'cp -r a b'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return env.Printer(false).Document(nil, wordRows())
			}
			set, err := LoadRules(dir, policy, env)
			if err != nil {
				return err
			}
			if len(args) == 1 && strings.Contains(args[0], " ") {
				facts, understood := set.Programs.Example(args[0])
				if !understood {
					facts = "not understood: " + facts
				}
				return env.Printer(false).Document(nil, []Row{{Text: facts}})
			}
			lines := set.Programs.Describe(args[0], args[1:]...)
			if lines == nil {
				return fmt.Errorf("no row describes %s; rules/README.md says how to teach a program",
					strings.Join(args, " "))
			}
			var rows []Row
			for _, l := range lines {
				rows = append(rows, Row{Text: l[0] + ": " + l[1]})
			}
			return env.Printer(false).Document(nil, rows)
		},
	}
	PolicyFlag(c, env, &policy)
	RulesFlag(c, env, &dir)
	return c
}

// wordRows lists the words of program rows with their meaning.
func wordRows() (rows []Row) {
	for _, list := range [][2]string{{"kinds", "Kinds of values and operands:"}, {"effects", "Effects:"},
		{"marks", "Words among the effects:"}, {"prints", "Kinds of output:"}} {
		rows = append(rows, Row{Text: list[1]})
		words := program.Words(list[0])
		for _, word := range slices.Sorted(maps.Keys(words)) {
			rows = append(rows, Row{Text: fmt.Sprintf("  %-18s %s", word, words[word])})
		}
	}
	return rows
}
