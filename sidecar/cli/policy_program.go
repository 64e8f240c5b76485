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
		Use:  "program [NAME [SUBCOMMAND]]",
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
	kinds, effects, marks, prints := program.Words()
	for _, list := range []struct {
		title string
		words map[string]string
	}{{"Kinds of values and operands:", kinds}, {"Effects:", effects}, {"Words among the effects:", marks},
		{"Kinds of output:", prints}} {
		rows = append(rows, Row{Text: list.title})
		for _, word := range slices.Sorted(maps.Keys(list.words)) {
			rows = append(rows, Row{Text: fmt.Sprintf("  %-18s %s", word, list.words[word])})
		}
	}
	return rows
}
