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
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

// The folders inside a folder of rules.
const (
	PromptFolder  = "prompts"
	PackFolder    = "packs"    // files that rule files include
	ProgramFolder = "programs" // what programs do with their arguments
	ExtraFolder   = "extra"    // files that say more of what a rule file says: exec.NAME.yaml of exec.yaml
	AgentFolder   = "agents"   // what is known of the programs that send requests
	FamilyFolder  = "families" // how families of models write replies
	TestFolder    = "tests"    // tests of the rules
	BuiltinFolder = "builtin"  // stands for what the program ships; no folder on disk
	PolicyFolder  = "policy"   // stands for the locked folder
)

// Files is the text of the rule files at one moment: path → text. Paths are
// slash-separated: "strategies.yaml", "prompts/react.txt", "packs/formats.yaml",
// "extra/exec.ours.yaml", "tests/replies.yaml". Files of the program that others include stand under
// "builtin/", those of the locked folder under "policy/".
type Files map[string]string

// Counted reports whether a file of this name inside a folder of rules is one of
// them. All others may stand there and mean nothing; Ignored warns of some.
func Counted(name string) bool {
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") || strings.HasPrefix(path.Base(name), ".") {
		return false
	}
	folder, ext := path.Dir(name), path.Ext(name)
	if folder == PromptFolder {
		return ext == ".txt" || ext == ".tmpl"
	}
	return ext == ".yaml" && (folder == "." || slices.Contains(Folders(), folder))
}

// Misnamed reports whether a file would be one of them if its name did not end in .yml. That is an error,
// since it would be ignored silently.
func Misnamed(name string) bool {
	stem, yml := strings.CutSuffix(name, ".yml")
	return yml && Counted(stem+".yaml")
}

// maxFiles is how many there may be in a folder, far more than people write.
const maxFiles = 1000

// ReadFS reads the files that count of the top folder and of those inside it that hold
// such. What stands there and cannot be read is an error.
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
				return because(err, e.Name(), e.Type())
			}
		}
	}
	return nil
}

// read adds the files of one folder, and gives everything that stands in it.
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
		if !Counted(name) {
			continue
		}
		if len(f) == maxFiles {
			return nil, fmt.Errorf("there are more than %d files", maxFiles)
		}
		if f[name], err = readFile(fsys, name); err != nil {
			return nil, because(err, name, e.Type())
		}
	}
	return list, nil
}

// readFile reads one file, and no more of it than shows that it is too long. A
// link is followed. What is no file, such as a pipe, could be read for ever.
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

// ReadDir is ReadFS for a folder on disk. A folder or file that everyone may
// write to is refused: who edits the rules decides what runs. A folder on a
// read-only mount is fine whatever its mode, as Kubernetes makes them 0777.
// While a process publishes there, or swaps the folder for another one, it waits: the
// files are never a mixture.
func ReadDir(dir string) (Files, error) {
	before := editionOf(dir)
	for range 200 {
		files, err := readDir(dir)
		now := editionOf(dir)
		if now.published != Publishing && now.same(before) {
			return files, err
		}
		before = now
		time.Sleep(10 * time.Millisecond)
	}
	return nil, fmt.Errorf("read rules: a publication to %s was broken off; publish again, or put the files right and remove %s",
		dir, filepath.Join(dir, PublishedFile))
}

func readDir(dir string) (Files, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("read rules: %s is a file; name the folder of the rules", dir)
	}
	files := Files{}
	if err == nil {
		err = files.readAll(os.DirFS(dir))
	}
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", unread(dir, err))
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read rules: %s: %w", dir, errNoFiles)
	}
	names := append(slices.Sorted(maps.Keys(files)), ".")
	for _, folder := range Folders() {
		if files.HasFolder(folder) {
			names = append(names, folder)
		}
	}
	for _, name := range names {
		full := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Stat(full)
		if err != nil {
			return nil, fmt.Errorf("read rules: %w", err)
		}
		if atomicfile.May(info)&0o002 != 0 && !readOnly(full) {
			return nil, fmt.Errorf("read rules: everyone may write to %s; run: chmod o-w %s", full, full)
		}
	}
	return files, nil
}

// Own gives the files of the operator's folder: all but those of the program and
// of the locked folder.
func (f Files) Own() Files {
	out := Files{}
	for name, text := range f {
		if Counted(name) && text != Lacking(name) {
			out[name] = text
		}
	}
	return out
}

// Has reports whether there is a file of this name.
func (f Files) Has(name string) bool {
	_, ok := f[name]
	return ok
}

// Locked reports whether files of the locked folder are among them.
func (f Files) Locked() bool { return f.HasFolder(PolicyFolder) }

// HasFolder reports whether there is a file in the folder.
func (f Files) HasFolder(folder string) bool {
	for name := range f {
		if strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}

// Differ names the files that are not the same in both, sorted.
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

// Sums are the first 12 hex digits of the sha256 of each text.
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

// Version is the first 12 hex digits of the sha256 over all names and texts.
func (f Files) Version() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(h, "%s\x00%d\x00%s", name, len(f[name]), f[name])
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
