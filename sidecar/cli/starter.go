package cli

import (
	_ "embed"
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
)

// Folders inside a folder of rules.
const (
	schemaFolder = "schemas"
	testFolder   = "tests"
)

// WriteRules writes a folder of rules and returns the number of files; it overwrites none. With full it
// writes all built-in rules, else the starters. Both come with tests and schemas.
func WriteRules(dir string, env Env, full bool) (n int, err error) {
	files, err := defaults(env.Defaults)
	if err != nil {
		return 0, err
	}
	if !full {
		kept := files
		files = map[string][]byte{}
		for name, text := range starters() {
			files[name+".yaml"], files[schemaOf(name)] = []byte(text), kept[schemaOf(name)]
		}
		for name, text := range kept {
			if filepath.Dir(name) == testFolder || name == schemaOf(testFolder) {
				files[name] = text
			}
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

func schemaOf(stem string) string { return filepath.Join(schemaFolder, stem+".schema.json") }

// starterText is a rule file that includes the built-in one and changes nothing, and behind it for each of
// the most edited files, in the order of rules/README.md, its name, what it is about and an example.
//
//go:embed starters.txt
var starterText string

// starters returns the text of each starter by its name, which is that of the file without .yaml.
func starters() map[string]string {
	out := map[string]string{}
	files := strings.Split(starterText, "\n\n== ")
	for _, file := range files[1:] {
		part := strings.SplitN(strings.TrimSpace(file), "\n", 3)
		out[part[0]] = fmt.Sprintf(files[0]+"\n", part[0], part[1], part[2])
	}
	return out
}

// defaults returns the built-in files by their path in a folder of rules. The schemas are inside that
// folder, and the first line of each rule file points to them.
func defaults(program fs.FS) (map[string][]byte, error) {
	files, err := schemas(program)
	if err != nil {
		return nil, err
	}
	rules, err := readBuiltin(program, "rules", ".")
	if err != nil {
		return nil, err
	}
	for name, text := range rules {
		files[name] = []byte(strings.Replace(string(text), "$schema=../", "$schema=", 1))
	}
	prompts, err := readBuiltin(program, "prompts", "prompts")
	maps.Copy(files, prompts)
	return files, err
}

// WriteSchemas writes the JSON Schemas to dir/schemas, replaces older ones, and returns their number.
func WriteSchemas(dir string, program fs.FS) (n int, err error) {
	files, err := schemas(program)
	if err != nil {
		return 0, err
	}
	if err := write(dir, files); err != nil {
		return 0, fmt.Errorf("write schemas: %w", err)
	}
	return len(files), nil
}

// schemas returns the JSON Schemas by their path in a folder of rules.
func schemas(program fs.FS) (map[string][]byte, error) {
	return readBuiltin(program, schemaFolder, schemaFolder)
}

// readBuiltin reads a folder of built-in files; the keys of the result are paths below into.
func readBuiltin(program fs.FS, folder, into string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(program, folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[filepath.FromSlash(path.Join(into, strings.TrimPrefix(name, folder+"/")))],
			err = fs.ReadFile(program, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the built-in files: %w", err)
	}
	return files, nil
}

// write writes files below dir, and makes their folders.
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

func initCommand(env Env) *cobra.Command {
	var full, layered bool
	c := &cobra.Command{
		Use:  "init DIR",
		Args: Arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := WriteRules(args[0], env, full)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.Out, "wrote %d files to %s\nStart with them: gpt-oss-executor serve --rules %s\n",
				n, args[0], args[0])
			return nil
		},
	}
	c.Flags().BoolVar(&full, "full", false, "copies of all built-in rules and prompts")
	c.Flags().BoolVar(&layered, "layered", false, "what init does without --full; for scripts of earlier versions")
	_ = c.Flags().MarkHidden("layered") // it cannot fail: the flag exists
	return c
}

func schemasCommand(env Env) *cobra.Command {
	return &cobra.Command{
		Use:  "schemas DIR",
		Args: Arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := WriteSchemas(args[0], env.Defaults)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.Out, "wrote %d schemas to %s\n", n, filepath.Join(args[0], "schemas"))
			return nil
		},
	}
}
