package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
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
			dir, named := env.rulesFolder(args, "")
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
				return ErrReported
			}
			return nil
		},
	}
	c.Flags().BoolVar(&check, "check", false, "only list the files that are not formatted")
	return c
}

// FormatFile formats a file. It writes the result only if write is set.
func FormatFile(name string, write bool) (changed bool, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return false, fmt.Errorf("read rules: %w", err)
	}
	out, problem := ruleset.Format(filepath.ToSlash(name), string(text))
	switch {
	case problem != nil:
		return false, rulefile.Problems{*problem}
	case out == string(text):
		return false, nil
	case !write:
		return true, nil
	}
	if err := atomicfile.Replace(name, []byte(out)); err != nil {
		return false, fmt.Errorf("write rules: %w", err)
	}
	return true, nil
}
