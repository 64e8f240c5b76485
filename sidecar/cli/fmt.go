package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

func fmtCommand(env Env) *cobra.Command {
	check := false
	c := &cobra.Command{
		Use:   "fmt [DIR|FILE…]",
		Short: "Format rule files",
		Long: `Tidy rule files: those that are named, and those in the folders that are named. Blanks at
the end of lines go. Of several empty lines in a row one stays. Each condition moves into
a block (when: |), in which no character has a meaning to YAML. Indents stay as they are.

Without an argument these are the rules that serve would use: those in the folder that
GPTOSS_EXECUTOR_RULES names. The built-in ones cannot be changed. The first line says which.

What a file says stays, and so do its comments. The names of the changed files are
printed. With --check nothing is changed, and the exit code is 1 if a file is not tidy.`,
		Example: `  gpt-oss-executor fmt my-rules
  gpt-oss-executor fmt --check my-rules/exec.yaml my-rules/paths.yaml`,
		Args: notEmpty,
		RunE: func(c *cobra.Command, args []string) error {
			dir, named := env.meant(args, "")
			if RulesName(dir) != dir {
				return Misused(c, errors.New("the built-in rules cannot be changed; name a folder or files, such as: "+c.CommandPath()+" ."))
			}
			if len(args) == 0 {
				args = []string{dir}
				env.announce(named)
			}
			names, err := rulefile.RuleFiles(args)
			if err != nil {
				return err
			}
			failed, changed := false, false
			for _, name := range names {
				did, err := FormatFile(name, !check)
				if err != nil {
					failed = true
					fmt.Fprintln(env.Err, err)
				}
				if did {
					changed = true
					fmt.Fprintln(env.Out, name)
				}
			}
			if failed || check && changed {
				return ErrSaid
			}
			return nil
		},
	}
	c.Flags().BoolVar(&check, "check", false, "only list the files that are not formatted")
	return c
}
