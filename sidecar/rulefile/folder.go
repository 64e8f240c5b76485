package rulefile

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
	"time"

	"gopkg.in/yaml.v3"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

// ReadDir is ReadFS for a folder on disk. It refuses a folder or file that everyone may write to, since the
// rules decide what runs, unless it is on a read-only mount, as in Kubernetes, which has mode 0777. It waits
// while a process publishes there or replaces the folder, so that the files belong together.
func ReadDir(dir string) (Files, error) {
	before := revisionOf(dir)
	for range 200 {
		files, err := readDir(dir)
		now := revisionOf(dir)
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
		return nil, fmt.Errorf("read rules: %w", folderError(dir, err))
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

// PublishedFile is a file in a folder to which rules were published. Its text changes with each publication
// and is Publishing during one, so ReadDir knows whether files belong together.
const (
	PublishedFile = ".published"
	Publishing    = "a publication has begun\n"
)

// revision is what must not change during a read.
type revision struct {
	folder    os.FileInfo
	published string
}

func revisionOf(dir string) revision {
	folder, _ := os.Stat(dir) // a folder that is not there is readDir's to report
	text, _ := os.ReadFile(filepath.Join(dir, PublishedFile))
	return revision{folder, string(text)}
}

func (e revision) same(other revision) bool {
	return e.published == other.published && (e.folder == nil) == (other.folder == nil) &&
		(e.folder == nil || os.SameFile(e.folder, other.folder))
}

var errNoFolder = errors.New("there is no such folder; a new one is made with: gpt-oss-executor init DIR")

var errNoFiles = errors.New("it holds no *.yaml file; write some with: gpt-oss-executor init DIR")

// folderError explains why a folder cannot be read.
func folderError(dir string, err error) error {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return fmt.Errorf("%s: %w", dir, err)
	}
	itself, missing := os.Lstat(dir)
	if errors.Is(missing, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", dir, errNoFolder)
	}
	if missing != nil {
		return explainError(missing, dir, 0)
	}
	return explainError(err, dir, itself.Mode())
}

// explainError names what cannot be read, and says what to do about it.
func explainError(err error, name string, kind fs.FileMode) error {
	var at *fs.PathError
	switch {
	case !errors.As(err, &at):
		return err
	case errors.Is(err, fs.ErrNotExist) && kind&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link that leads nowhere; mend or remove it", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w; let the user who runs this program read it", name, at.Err)
	}
	return fmt.Errorf("%s: %w", name, at.Err)
}

// RuleFiles returns the named files, and the rule files in named folders, with packs and tests.
func RuleFiles(args []string) (names []string, err error) {
	for _, arg := range args {
		if info, err := os.Stat(arg); err == nil && !info.IsDir() {
			names = append(names, arg)
			continue
		}
		files, err := ReadDir(arg)
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if filepath.Ext(name) == ".yaml" {
				names = append(names, filepath.Join(arg, filepath.FromSlash(name)))
			}
		}
	}
	return names, nil
}

// Entry is an entry of the mapping at the end of a file, as text.
type Entry struct{ Key, Text string }

// Entries splits a file without parsing it: its last key holds a mapping, whose keys are indented by two
// blanks. It is for the many files of the program, of which few entries are ever used.
func Entries(doc string) (out []Entry) {
	start, key := 0, ""
	for at := 0; at < len(doc); {
		end := len(doc)
		if n := strings.IndexByte(doc[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		line := doc[at:end]
		if len(line) > 3 && line[:2] == "  " && line[2] != ' ' && line[2] != '#' {
			if key != "" {
				out = append(out, Entry{key, doc[start:at]})
			}
			name, _, _ := strings.Cut(strings.TrimRight(line[2:], "\n"), " #") // a comment
			name = strings.TrimSuffix(strings.TrimSuffix(name, " {}"), ":")
			start, key = at, strings.Trim(name, `'"`)
		}
		at = end
	}
	if key != "" {
		out = append(out, Entry{key, doc[start:]})
	}
	return out
}

// Value returns the text of a plain, unquoted key of the entry; empty if it is missing.
func (e Entry) Value(key string) string {
	_, text, _ := strings.Cut(e.Text, "\n    "+key+":")
	var out strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 && !strings.HasPrefix(line, "     ") {
			break
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// build returns the tree of a file with all its layers. What an extra file includes comes after the file,
// too.
func (t *Tree) build(files Files, name string) *yaml.Node {
	done := map[string]bool{}
	main := t.layer(files, name, false, done)
	if main.root == nil {
		return nil
	}
	root := t.mergeIncludes(main.root, main, files, []string{name}, done)
	for _, extra := range files.extras(name) {
		t.files = append(t.files, extra)
		if over := t.layer(files, extra, true, done); over.root != nil {
			root = t.mergeIncludes(root, over, files, []string{name, extra}, done)
			root = t.withContent(main.root, t.merge(root, over.root, false).Content)
		}
	}
	if arm := ArmFolder + "/" + name; files.Has(arm) {
		if over := t.layer(files, arm, true, done); over.root != nil {
			root = t.withContent(main.root, t.merge(root, over.root, false).Content)
		}
	}
	return root
}

// extras returns the names of the extra files of a file, sorted.
func (f Files) extras(name string) (out []string) {
	for extra := range f {
		if ExtraOf(extra) == name {
			out = append(out, extra)
		}
	}
	slices.Sort(out)
	return out
}

// ExtraOf returns the file that an extra file extends, exec.yaml for extra/exec.NAME.yaml, whether it exists
// or not; empty for other names.
func ExtraOf(name string) string {
	stem, ok := strings.CutPrefix(name, ExtraFolder+"/")
	if kind, more, _ := strings.Cut(stem, "."); ok && strings.Contains(more, ".") {
		return kind + ".yaml"
	}
	return ""
}

// reportConflict reports different values in two extra files, since neither has precedence.
func (t *Tree) reportConflict(base, over *yaml.Node) {
	was, now := t.places().at(base), t.places().at(over)
	if was.File() != now.File() && ExtraOf(was.File()) != "" && ExtraOf(now.File()) != "" &&
		!same(base, over) {
		t.report(now, CodeDup, "another file says something else here",
			"it is "+was.String()+"; leave one of the two out")
	}
}

func same(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && slices.EqualFunc(a.Content, b.Content, same)
}

// Ignored warns of what looks like rules in the folders on disk but is not read: folders with other names,
// nested folders, and files with other extensions. Hidden ones, such as those of Kubernetes, are no rules.
func (s Source) Ignored() (out Problems) {
	for _, in := range []struct{ dir, prefix string }{{s.Dir, ""}, {s.Policy, PolicyFolder + "/"}} {
		if in.dir == "" {
			continue
		}
		files := os.DirFS(in.dir)
		for _, folder := range append(Folders(), ".") {
			list, _ := fs.ReadDir(files, folder) // what cannot be read is an error of ReadDir
			for _, e := range list {
				if name := path.Join(folder, e.Name()); !strings.HasPrefix(e.Name(), ".") {
					if hint := ignored(files, name, e.IsDir()); hint != "" {
						out = append(out, Problem{File: in.prefix + name, Code: CodeFile,
							Msg: "this is not read", Hint: hint, Warning: true})
					}
				}
			}
		}
	}
	return out
}

// ignored suggests what an unread file or folder should be; empty: nothing.
func ignored(files fs.FS, name string, isFolder bool) string {
	if !isFolder {
		if meant := withEnding(name); meant != name && !IsRuleFile(name) && IsRuleFile(meant) {
			return "did you mean " + meant + "?"
		}
		return ""
	}
	above, near := path.Dir(name), ""
	if above == "." {
		near, _ = Nearest(strings.ToLower(name), Folders())
	}
	list, _ := fs.ReadDir(files, name)
	looks := slices.ContainsFunc(list, func(e fs.DirEntry) bool {
		return path.Ext(withEnding(e.Name())) == ".yaml" || IsRuleFile(path.Join(near, e.Name()))
	})
	switch {
	case !looks || slices.Contains(Folders(), name):
		return ""
	case above != ".":
		return "put its files into " + above + " itself"
	case near != "":
		return "did you mean the folder " + near + "?"
	}
	return "rules stand in the folder itself, and in its folders " + strings.Join(Folders(), ", ")
}

// withEnding returns a name with the extension that was probably meant.
func withEnding(name string) string {
	lower := strings.ToLower(name)
	for _, ending := range []string{".yaml", ".yaml.txt", ".yml", ".yml.txt"} {
		if strings.HasSuffix(lower, ending) {
			return name[:len(name)-len(ending)] + ".yaml"
		}
	}
	return name
}
