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
		Use:  "fmt [DIR|FILE…]",
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
