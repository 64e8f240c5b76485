package rulefile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// The folders in a folder of rules.
const (
	PromptFolder  = "prompts"
	PackFolder    = "packs"    // files to include
	ProgramFolder = "programs" // what programs do with their arguments
	ExtraFolder   = "extra"    // additions to rule files: exec.NAME.yaml to exec.yaml
	AgentFolder   = "agents"   // the programs that send requests
	FamilyFolder  = "families" // how families of models write replies
	TestFolder    = "tests"    // tests of the rules
	BuiltinFolder = "builtin"  // the program's own files; no folder on disk
	PolicyFolder  = "policy"   // the locked folder
)

// Folders returns the folders in a folder of rules that hold rule files.
func Folders() []string {
	return []string{PackFolder, ExtraFolder, ProgramFolder, AgentFolder, FamilyFolder, TestFolder,
		PromptFolder}
}

// Files maps paths to the texts of rule files at one moment. Paths are slash-separated: "strategies.yaml",
// "prompts/react.txt", "packs/formats.yaml", "extra/exec.ours.yaml", "tests/replies.yaml". Included files of
// the program are below "builtin/", those of the locked folder below "policy/".
type Files map[string]string

// IsRuleFile reports whether a file of this name in a folder of rules is read. Others have no meaning;
// Ignored warns of some.
func IsRuleFile(name string) bool {
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") || strings.HasPrefix(path.Base(name), ".") {
		return false
	}
	folder, ext := path.Dir(name), path.Ext(name)
	if folder == PromptFolder {
		return ext == ".txt" || ext == ".tmpl"
	}
	return ext == ".yaml" && (folder == "." || slices.Contains(Folders(), folder))
}

// Misnamed reports whether a file would be read if its name did not end in .yml. That is an error, since
// ignoring it would be a surprise.
func Misnamed(name string) bool {
	stem, yml := strings.CutSuffix(name, ".yml")
	return yml && IsRuleFile(stem+".yaml")
}

// maxFiles is how many files a folder may have, far more than people write.
const maxFiles = 1000

// ReadFS reads the rule files in the top folder and in its known folders. A file that cannot be read is an
// error.
func ReadFS(fsys fs.FS) (Files, error) {
	out := Files{}
	if err := out.readAll(fsys); err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	return out, nil
}

func (f Files) readAll(fsys fs.FS) error {
	top, err := f.read(fsys, ".")
	if err != nil {
		return err
	}
	for _, e := range top {
		if slices.Contains(Folders(), e.Name()) {
			if _, err := f.read(fsys, e.Name()); err != nil {
				return explainError(err, e.Name(), e.Type())
			}
		}
	}
	return nil
}

// read adds the files of one folder, and returns all its entries.
func (f Files) read(fsys fs.FS, folder string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(fsys, folder)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		name := path.Join(folder, e.Name())
		if Misnamed(name) {
			return nil, fmt.Errorf("%s is not read: its name must end in .yaml", name)
		}
		if !IsRuleFile(name) {
			continue
		}
		if len(f) == maxFiles {
			return nil, fmt.Errorf("there are more than %d files", maxFiles)
		}
		if f[name], err = readFile(fsys, name); err != nil {
			return nil, explainError(err, name, e.Type())
		}
	}
	return list, nil
}

// readFile reads one file, up to the size at which it is too long. It follows links, and refuses pipes and
// the like, which could be read forever.
func readFile(fsys fs.FS, name string) (string, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file; move it away", name)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	text.Grow(int(min(info.Size(), maxFile)) + bytes.MinRead)
	_, err = text.ReadFrom(io.LimitReader(f, maxFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if text.Len() > maxFile && path.Ext(name) != ".yaml" { // Load says it of the others, with more of a hint
		return "", fmt.Errorf("%s is longer than 1 MiB", name)
	}
	return text.String(), nil
}

// Own returns the files of the operator's folder, without those of the program and of the locked folder.
func (f Files) Own() Files {
	out := Files{}
	for name, text := range f {
		if IsRuleFile(name) && text != MissingFile(name) {
			out[name] = text
		}
	}
	return out
}

// Has reports whether a file exists.
func (f Files) Has(name string) bool {
	_, ok := f[name]
	return ok
}

// Locked reports whether files of the locked folder are included.
func (f Files) Locked() bool { return f.HasFolder(PolicyFolder) }

// HasFolder reports whether a file in the folder exists.
func (f Files) HasFolder(folder string) bool {
	for name := range f {
		if strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}

// Differ returns the names of files that differ, sorted.
func (f Files) Differ(other Files) []string {
	out := []string{}
	for name, text := range f {
		if was, ok := other[name]; !ok || was != text {
			out = append(out, name)
		}
	}
	for name := range other {
		if _, ok := f[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Sums returns the first 12 hex digits of the sha256 of each text.
func (f Files) Sums() map[string]string {
	out := make(map[string]string, len(f))
	for name, text := range f {
		sum := sha256.Sum256([]byte(text))
		out[name] = hex.EncodeToString(sum[:])[:12]
	}
	return out
}

// Split separates the operator's files from those of the locked folder.
func (f Files) Split() (mine, locks Files) {
	mine, locks = Files{}, Files{}
	for name, text := range f {
		if strings.HasPrefix(name, PolicyFolder+"/") {
			locks[name] = text
		} else {
			mine[name] = text
		}
	}
	return mine, locks
}

// Version returns the first 12 hex digits of the sha256 over all names and texts.
func (f Files) Version() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(h, "%s\x00%d\x00%s", name, len(f[name]), f[name])
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
