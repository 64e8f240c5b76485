package rulefile

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Ignored warns of what stands in the folders on disk, looks like rules, and is not read: folders
// with other names, folders inside folders, and files whose names end otherwise. Hidden ones,
// such as those of Kubernetes, are no rules.
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

// ignored says what is meant by a file or folder that is not read; empty: nothing.
func ignored(files fs.FS, name string, isFolder bool) string {
	if !isFolder {
		if meant := usual(name); meant != name && !Counted(name) && Counted(meant) {
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
		return path.Ext(usual(e.Name())) == ".yaml" || Counted(path.Join(near, e.Name()))
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

// usual is a name with the ending that it is meant to have.
func usual(name string) string {
	lower := strings.ToLower(name)
	for _, ending := range []string{".yaml", ".yaml.txt", ".yml", ".yml.txt"} {
		if strings.HasSuffix(lower, ending) {
			return name[:len(name)-len(ending)] + ".yaml"
		}
	}
	return name
}
