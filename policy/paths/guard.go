package paths

import "io/fs"

// Guard classifies paths.
type Guard struct {
	Roots Roots
	Links Links // nil: links are not followed, paths are taken as they are written
}

// Links looks at what stands on a disk, as os.Lstat and os.Readlink do.
type Links interface {
	Lstat(path string) (fs.FileInfo, error)
	Readlink(path string) (string, error)
}

// Literal classifies a path that a file tool was given. Nothing in it is interpreted
// but . and .. and links.
func (g Guard) Literal(op Op, path string) Use {
	u := g.Word(op, Word{Text: path}, g.Roots.Cwd, "argument")
	return u
}

// Word is a path as a shell hands it to a program.
type Word struct {
	Text    string
	Dynamic bool // a part is only known at run time, and missing in Text
	Glob    bool // the shell would replace it by the files that fit
}

// Word classifies a path that a command uses. Cwd is the folder the command runs in;
// empty: it is not known.
func (g Guard) Word(op Op, w Word, cwd, via string) Use {
	return Use{Op: string(op), Path: w.Text, Class: Outside, Dynamic: w.Dynamic, Glob: w.Glob, Via: via}
}
