package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func readRules(dir string, env Env) (ruleset.Files, error) {
	return sidecar.ReadRules(dir, env.Defaults)
}

// loadRules compiles the rules and prints what is wrong with them.
func loadRules(dir string, env Env) (*ruleset.Set, error) {
	files, err := readRules(dir, env)
	if err != nil {
		return nil, err
	}
	set, problems := ruleset.Load(files)
	if len(problems) > 0 {
		fmt.Fprintln(env.Err, problems.In(dir).Error())
	}
	if set == nil {
		return nil, errSaid
	}
	return set, nil
}

func initCommand(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "init DIR",
		Short: "Write editable copies of the built-in rules and prompts",
		Long: `Write editable copies of the built-in rules and prompts into DIR, which must not
hold any of them yet. Then start the server with them:

  gpt-oss-executor init rules
  gpt-oss-executor serve --rules rules --upstream http://127.0.0.1:8000/v1`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := writeDefaults(args[0], env.Defaults)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.Out, "wrote %d files to %s\nStart with them: gpt-oss-executor serve --rules %s\n", n, args[0], args[0])
			return nil
		},
	}
}

// writeDefaults copies the built-in files to dir, and overwrites none.
func writeDefaults(dir string, all fs.FS) (n int, err error) {
	var from, to []string
	err = fs.WalkDir(all, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel("rules", filepath.FromSlash(path))
		if err != nil || len(rel) > 1 && rel[:2] == ".." {
			rel = filepath.FromSlash(path) // prompts/x.txt
		}
		from, to = append(from, path), append(to, filepath.Join(dir, rel))
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("read the built-in files: %w", err)
	}
	for _, name := range to {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("%s exists already; choose an empty folder", name)
		}
	}
	for i := range from {
		text, err := fs.ReadFile(all, from[i])
		if err != nil {
			return i, fmt.Errorf("read the built-in %s: %w", from[i], err)
		}
		if err := os.MkdirAll(filepath.Dir(to[i]), 0o755); err != nil {
			return i, fmt.Errorf("write rules: %w", err)
		}
		if err := os.WriteFile(to[i], text, 0o644); err != nil {
			return i, fmt.Errorf("write rules: %w", err)
		}
	}
	return len(from), nil
}
