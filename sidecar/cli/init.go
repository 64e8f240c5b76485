package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// schemaFolder is the folder of JSON Schemas inside a folder of rules.
const schemaFolder = "schemas"

// testFolder is the folder of tests of the rules.
const testFolder = "tests"

func initCommand(env Env) *cobra.Command {
	var layered bool
	c := &cobra.Command{
		Use:   "init DIR",
		Short: "Write a folder of rules to edit",
		Long: `Write copies of the built-in rules and prompts into DIR, to edit. DIR must not hold
any of them yet. Then start the server with them.

With --layered the rule files are short. Each one includes the built-in file, and you
write only what differs. So you get the changes of a new version of the program.`,
		Example: `  gpt-oss-executor init my-rules
  gpt-oss-executor init --layered my-rules
  gpt-oss-executor serve --rules my-rules --upstream http://127.0.0.1:8000/v1`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := writeDefaults(args[0], env.Defaults, layered)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.Out, "wrote %d files to %s\nStart with them: gpt-oss-executor serve --rules %s\n", n, args[0], args[0])
			return nil
		},
	}
	c.Flags().BoolVar(&layered, "layered", false, "short files that include the built-in ones, and hold only what differs")
	return c
}

func schemasCommand(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "schemas DIR",
		Short: "Write the JSON Schemas with which editors check rules",
		Long: `Write the JSON Schemas of all rule files, and of the config file of serve, into
DIR/schemas. Older ones are replaced. init writes them, too; run this after an update
of the program.

An editor with the YAML language server (in VS Code: the extension YAML by Red Hat)
completes keys, shows what they mean and underlines mistakes. It does so in each file
that begins with a line such as

  # yaml-language-server: $schema=schemas/strategies.schema.json`,
		Example: `  gpt-oss-executor schemas my-rules`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := schemas(env.Defaults)
			if err != nil {
				return err
			}
			if err := write(args[0], files); err != nil {
				return fmt.Errorf("write schemas: %w", err)
			}
			fmt.Fprintf(env.Out, "wrote %d schemas to %s\n", len(files), filepath.Join(args[0], schemaFolder))
			return nil
		},
	}
}

// writeDefaults copies the built-in files to dir, and overwrites none.
func writeDefaults(dir string, program fs.FS, layered bool) (n int, err error) {
	files, err := defaults(program)
	if err != nil {
		return 0, err
	}
	if layered {
		maps.DeleteFunc(files, func(name string, _ []byte) bool {
			// Prompts of the program are there anyway, and packs can be included. Tests are neither.
			top := filepath.Dir(name)
			return top != "." && top != schemaFolder && top != testFolder
		})
		for _, name := range ruleset.FileNames() {
			files[name] = fmt.Appendf(nil, layer, strings.TrimSuffix(name, ".yaml"), name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		name = filepath.Join(dir, name)
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("%s exists already; choose an empty folder", name)
		}
	}
	if err := write(dir, files); err != nil {
		return 0, fmt.Errorf("write rules: %w", err)
	}
	return len(files), nil
}

// layer is a rule file that says the same as the built-in one.
const layer = `# yaml-language-server: $schema=schemas/%[1]s.schema.json
#
# Write here what differs from the built-in %[2]s, which is included. An item with
# the id of a built-in one changes only the keys that it has. Other lists are joined.
# What belongs together can stand in a file of its own: extra/%[1]s.NAME.yaml
# To see the built-in file in full: gpt-oss-executor init ANOTHER-FOLDER
version: 1
include: [builtin/%[2]s]
`

// defaults are the built-in files by their path in a folder of rules. The schemas
// stand in that folder, not beside it, and the first lines of the rules say so.
func defaults(program fs.FS) (map[string][]byte, error) {
	files, err := schemas(program)
	if err != nil {
		return nil, err
	}
	rules, err := builtInto(program, "rules", ".")
	if err != nil {
		return nil, err
	}
	for name, text := range rules {
		files[name] = []byte(strings.Replace(string(text), "$schema=../", "$schema=", 1))
	}
	prompts, err := builtInto(program, "prompts", "prompts")
	maps.Copy(files, prompts)
	return files, err
}

// schemas are the JSON Schemas by their path in a folder of rules.
func schemas(program fs.FS) (map[string][]byte, error) {
	return builtInto(program, schemaFolder, schemaFolder)
}

// builtInto reads a folder of the built-in files, by their path in another one.
func builtInto(program fs.FS, folder, into string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(program, folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[filepath.FromSlash(path.Join(into, strings.TrimPrefix(name, folder+"/")))], err = fs.ReadFile(program, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the built-in files: %w", err)
	}
	return files, nil
}

// write writes files into dir, and makes the folders they need.
func write(dir string, files map[string][]byte) error {
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
