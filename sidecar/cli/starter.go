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
)

// The folders of JSON Schemas and of tests inside a folder of rules.
const (
	schemaFolder = "schemas"
	testFolder   = "tests"
)

// Rules copies the built-in files to dir, and overwrites none. n is how many. With layered they
// only include the built-in ones.
func Rules(dir string, env Env, layered bool) (n int, err error) {
	files, err := defaults(env.Defaults)
	if err != nil {
		return 0, err
	}
	if layered {
		maps.DeleteFunc(files, func(name string, _ []byte) bool {
			// Prompts of the program are there anyway, and packs can be included. Tests are neither.
			top := filepath.Dir(name)
			return top != "." && top != schemaFolder && top != testFolder
		})
		for _, name := range env.Loader().FileNames() {
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
# the name of a built-in one changes only the keys that it has. Other lists are joined.
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

// Schemas writes the JSON Schemas to dir/schemas, in place of older ones. n is how many.
func Schemas(dir string, program fs.FS) (n int, err error) {
	files, err := schemas(program)
	if err != nil {
		return 0, err
	}
	if err := write(dir, files); err != nil {
		return 0, fmt.Errorf("write schemas: %w", err)
	}
	return len(files), nil
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
		files[filepath.FromSlash(path.Join(into, strings.TrimPrefix(name, folder+"/")))],
			err = fs.ReadFile(program, name)
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
