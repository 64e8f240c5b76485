package rulefile

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

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
