package paths

import (
	"io/fs"
	"path"
	"strings"
)

// Guard classifies paths.
type Guard struct {
	Roots Roots
	Links Links // nil: links are not followed, and paths are taken literally
}

// Links looks at what exists on a disk, but never at the text of a file. Errors are those of os.Lstat,
// os.Readlink and os.ReadDir.
type Links interface {
	Look(path string) (Entry, error) // does not follow a link
	Readlink(path string) (string, error)
	List(folder string, most int) ([]fs.DirEntry, error) // in any order; at most about that many
}

// Entry is what exists at a path.
type Entry struct {
	Mode  fs.FileMode // type and permissions
	Names uint64      // number of hard links; 0: nothing exists
}

func (e Entry) there() bool { return e.Names > 0 }

// restricted reports whether some users may not read a file or enter a folder.
func (e Entry) restricted() bool {
	return e.Mode.IsRegular() && e.Mode&0o004 == 0 || e.Mode.IsDir() && e.Mode&0o001 == 0
}

// Literal classifies a path that a file tool was given. It interprets only . and .., links, and what file
// tools are known to interpret: ~/ and file: URLs. A leading @, which some tools remove, is judged both ways.
func (g Guard) Literal(op Op, name string) Use {
	u := g.literal(op, name)
	if rest, at := strings.CutPrefix(name, "@"); at {
		if other := g.literal(op, rest); stricter(other.Class, u.Class) {
			other.Path = name
			return other
		}
	}
	return u
}

func (g Guard) literal(op Op, name string) Use {
	u := Use{Op: string(op), Path: name, Via: ViaTool, Class: Malformed}
	if p, ok := g.toolPath(name, &u); ok {
		g.classify(&u, op, p, g.Roots.Cwd, true)
	}
	return u
}

// Word is a path as a shell hands it to a program: without quotes, with ~ and variables expanded.
type Word struct {
	Text    string
	Dynamic bool // a part is only known at run time, and missing in Text
	Glob    bool // the shell replaces it by the files that match
	Prefix  int  // if Dynamic: bytes of Text before the first unknown part
}

// Word classifies a path that a command uses. cwd is the folder in which the command runs; empty: unknown. A
// word with unknown parts gets the class that it would have if they were empty, if that is worse than
// Dynamic: "$X/" may be /.
func (g Guard) Word(op Op, w Word, cwd, via string) Use {
	u := Use{Op: string(op), Path: w.Text, Via: via, Dynamic: w.Dynamic, Glob: w.Glob}
	switch {
	case w.Text == "" && w.Dynamic:
		u.Class = Dynamic
		return u
	case !validPath(w.Text, &u):
		u.Class = Malformed
		return u
	}
	text := g.tilde(w.Text)
	if w.Glob {
		g.glob(&u, op, text, cwd)
	} else {
		g.classify(&u, op, text, cwd, false)
	}
	if w.Dynamic {
		u.Resolved = ""
		if !g.classHolds(op, u.Class, w, cwd) {
			u.Class = Dynamic
		}
	}
	return u
}

// classHolds reports whether a class holds whatever the unknown parts of a word are, or is too dangerous to
// ignore.
func (g Guard) classHolds(op Op, class string, w Word, cwd string) bool {
	switch class {
	case Workspace, Readable, Null, Around, Automation, Dynamic:
		return false
	case WorkspaceRoot:
		return op == Delete
	case WorkspaceSecret:
		return op == Read
	case Outside, System, Device:
		known := w.Text[:min(w.Prefix, len(w.Text))]
		folder := known[:strings.LastIndexByte(known, '/')+1]
		if strings.Trim(folder, "/") == "" {
			return false
		}
		var u Use
		g.classify(&u, op, folder+"x", cwd, false)
		return u.Class == class
	}
	return true
}

// classify sets what a path leads to and its class. It is stricter for a tool than for a command: a tool
// would reach the standard streams of its server.
func (g Guard) classify(u *Use, op Op, p, cwd string, tool bool) {
	known := true
	if !strings.HasPrefix(p, "/") {
		if known = cwd != ""; !known {
			cwd = unknownFolder
		}
		p = cwd + "/" + p
	}
	at := g.place(op, p, tool)
	u.Class = at.class
	if g.Links != nil && strings.Contains(p, "..") { // many programs take .. out before the kernel sees it
		if clean := g.place(op, path.Clean(p), tool); stricter(clean.class, at.class) {
			at, u.Class = clean, clean.class
		}
	}
	u.Marks = append(u.Marks, at.marks...)
	around := at.class == Around || op == Read && g.hasHome(at.path)
	if remaining := maxBelow; around && g.Links != nil && (at.Mode.IsDir() || !at.there()) &&
		g.secretsBelow(at.path, &remaining) {
		u.mark(MarkBelow)
	}
	switch {
	case known:
		u.Resolved = at.path
	case !stricter(u.Class, Dynamic) || u.Class == Outside:
		u.Class = Dynamic
	}
}

// place follows an absolute path and classifies what it leads to.
func (g Guard) place(op Op, p string, tool bool) place {
	at := place{op: op, tool: tool}
	if g.Links == nil && !strings.Contains(p, "/proc/") && !strings.Contains(p, "/dev/") {
		at.path = path.Clean(p)
	} else if !g.walk(p, op != Delete, &at) {
		return place{class: Malformed}
	}
	at.class = g.class(&at)
	return at
}

// unknownFolder stands for a folder that is not known. It is in no root, and a few .. do not leave it.
const unknownFolder = "/?/?/?/?/?/?/?/?"

// Real resolves the links of the roots, which a guard with Links needs; ReadFiles are resolved when they are
// asked for. kept may know the target of a folder without looking; nil: each is looked at. The guard's own
// files are always looked at.
func (r Roots) Real(links Links, kept func(folder string) string) Roots {
	look := Guard{Links: links}.real
	if kept == nil {
		kept = look
	}
	return Roots{
		Cwd: kept(r.Cwd), Home: kept(r.Home), Homes: r.Homes, ReadFiles: r.ReadFiles,
		Write: mapPaths(r.Write, kept), Read: mapPaths(r.Read, kept), Look: mapPaths(r.Look, kept),
		Own: mapPaths(r.Own, look), Secret: mapPaths(r.Secret, look),
	}
}

func mapPaths(ps []string, of func(string) string) []string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = of(p)
	}
	return out
}

// Behind resolves the links of a path, or returns p if that fails.
func Behind(links Links, p string) string { return Guard{Links: links}.real(p) }

func (g Guard) real(p string) string {
	var at place
	if g.Links != nil && strings.HasPrefix(p, "/") && g.walk(p, true, &at) {
		return at.path
	}
	return p
}
