package ruleset

import (
	"crypto/sha256"
	"encoding/hex"
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

// The folders inside a folder of rules.
const (
	promptFolder  = "prompts"
	packFolder    = "packs"   // files that rule files include
	testFolder    = "tests"   // tests of the rules
	builtinFolder = "builtin" // stands for what the program ships; no folder on disk
	policyFolder  = "policy"  // stands for the locked folder
)

// Files is the text of the rule files at one moment: path → text. Paths are
// slash-separated: "strategies.yaml", "prompts/react.txt", "packs/formats.yaml",
// "tests/replies.yaml". Files of the program that others include stand under
// "builtin/", those of the locked folder under "policy/".
type Files map[string]string

// ReadFS reads every *.yaml of the top folder and of its folders packs and tests,
// and every *.txt of its prompts folder, hidden ones excepted.
func ReadFS(fsys fs.FS) (Files, error) {
	out := Files{}
	for _, pattern := range []string{"*.yaml", packFolder + "/*.yaml", testFolder + "/*.yaml", promptFolder + "/*.txt"} {
		names, err := fs.Glob(fsys, pattern)
		if err != nil {
			return nil, fmt.Errorf("read rules: %w", err)
		}
		for _, name := range names {
			if strings.HasPrefix(path.Base(name), ".") {
				continue
			}
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return nil, fmt.Errorf("read rules: %w", err)
			}
			out[name] = string(text)
		}
	}
	return out, nil
}

// ReadDir is ReadFS for a folder on disk. A folder or file that everyone may
// write to is refused: whoever edits the rules decides what runs. A folder on a
// read-only mount is fine whatever its mode, as Kubernetes makes them 0777.
func ReadDir(dir string) (Files, error) {
	files, err := ReadFS(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read rules: %s: %w", dir, errNoFiles)
	}
	names := append(slices.Sorted(maps.Keys(files)), ".")
	for _, folder := range []string{packFolder, testFolder, promptFolder} {
		if files.hasFolder(folder) {
			names = append(names, folder)
		}
	}
	for _, name := range names {
		full := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Stat(full)
		if err != nil {
			return nil, fmt.Errorf("read rules: %w", err)
		}
		if info.Mode().Perm()&0o002 != 0 && !readOnly(full) {
			return nil, fmt.Errorf("read rules: everyone may write to %s; run: chmod o-w %s", full, full)
		}
	}
	return files, nil
}

func (f Files) hasFolder(folder string) bool {
	for name := range f {
		if strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}

var errNoFiles = errors.New("no *.yaml file stands here; write the default ones with: gpt-oss-executor init DIR")

// split separates the operator's files from those of the locked folder.
func (f Files) split() (mine, locks Files) {
	mine, locks = Files{}, Files{}
	for name, text := range f {
		if strings.HasPrefix(name, policyFolder+"/") {
			locks[name] = text
		} else {
			mine[name] = text
		}
	}
	return mine, locks
}

// Version is the first 12 hex digits of the sha256 over all names and texts.
func (f Files) Version() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(h, "%s\x00%d\x00%s", name, len(f[name]), f[name])
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
