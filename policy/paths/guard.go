package paths

import (
	"io/fs"
	"path"
	"strings"
)

// Guard classifies paths.
type Guard struct {
	Roots Roots
	Links Links // nil: links are not followed, paths are taken as they are written
}

// Links looks at what stands on a disk, and at no file's text. Errors are those of os.Lstat, os.Readlink and
// os.ReadDir.
type Links interface {
	Look(path string) (Entry, error) // a link is not followed
	Readlink(path string) (string, error)
	List(folder string, most int) ([]fs.DirEntry, error) // in any order, and no more than some
}

// Entry is what stands at a path.
type Entry struct {
	Mode  fs.FileMode // its type, and who may do what with it
	Names uint64      // of the same file: hard links; 0: nothing is there
}

func (e Entry) there() bool { return e.Names > 0 }

// shut says whether not everybody may read a file, or go through a folder.
func (e Entry) shut() bool {
	return e.Mode.IsRegular() && e.Mode&0o004 == 0 || e.Mode.IsDir() && e.Mode&0o001 == 0
}

// Literal classifies a path that a file tool was given. Nothing in it is interpreted
// but . and .. and links, and what file tools are known to interpret: ~/ and file:
// URLs. A leading @, which some tools take off, is judged both ways.
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
	if p, ok := g.plain(name, &u); ok {
		g.judge(&u, op, p, g.Roots.Cwd, true)
	}
	return u
}

// Word is a path as a shell hands it to a program: quotes are gone, ~ and variables
// filled in.
type Word struct {
	Text    string
	Dynamic bool // a part is only known at run time, and missing in Text
	Glob    bool // the shell would replace it by the files that fit
	Prefix  int  // if Dynamic: how many bytes of Text stand before the first such part
}

// Word classifies a path that a command uses. Cwd is the folder the command runs in;
// empty: it is not known. Of a word with unknown parts it says what it would be if
// these were empty where that is worse than not to know: "$X/" may be /.
func (g Guard) Word(op Op, w Word, cwd, via string) Use {
	u := Use{Op: string(op), Path: w.Text, Via: via, Dynamic: w.Dynamic, Glob: w.Glob}
	switch {
	case w.Text == "" && w.Dynamic:
		u.Class = Dynamic
		return u
	case !sound(w.Text, &u):
		u.Class = Malformed
		return u
	}
	text := g.tilde(w.Text)
	if w.Glob {
		g.glob(&u, op, text, cwd)
	} else {
		g.judge(&u, op, text, cwd, false)
	}
	if w.Dynamic {
		u.Resolved = ""
		if !g.keeps(op, u.Class, w, cwd) {
			u.Class = Dynamic
		}
	}
	return u
}

// keeps says whether a class holds whatever the unknown parts of a word turn out to be,
// or is too dangerous to be left to them.
func (g Guard) keeps(op Op, class string, w Word, cwd string) bool {
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
		g.judge(&u, op, folder+"x", cwd, false)
		return u.Class == class
	}
	return true
}

// judge fills in what is behind a path and its class. A tool is stricter than a
// command: the standard streams that it would reach are those of its server.
func (g Guard) judge(u *Use, op Op, p, cwd string, tool bool) {
	known := true
	if !strings.HasPrefix(p, "/") {
		if known = cwd != ""; !known {
			cwd = nowhere
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
	if left := maxBelow; around && g.Links != nil && (at.Mode.IsDir() || !at.there()) &&
		g.secretsBelow(at.path, &left) {
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

// nowhere stands for a folder that is not known. No root is in it, and .. does not
// leave it for a while.
const nowhere = "/?/?/?/?/?/?/?/?"

// Real gives the folders of the roots as they are behind their links; a file is followed
// when it is asked for. Call it once where Guard.Links is set: the guard compares what it
// finds behind a path with the roots as they stand. Kept may know what a folder leads to
// without a look; nil: each is looked at. What is the guard's own is always looked at.
func (r Roots) Real(links Links, kept func(folder string) string) Roots {
	look := Guard{Links: links}.real
	if kept == nil {
		kept = look
	}
	return Roots{Cwd: kept(r.Cwd), Home: kept(r.Home), Write: each(r.Write, kept), Read: each(r.Read, kept),
		ReadFiles: r.ReadFiles,
		Own:       each(r.Own, look), Secret: each(r.Secret, look), Look: each(r.Look, kept), Homes: r.Homes}
}

func each(ps []string, of func(string) string) []string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = of(p)
	}
	return out
}

// Behind is a place behind its links, or p where it cannot be followed.
func Behind(links Links, p string) string { return Guard{Links: links}.real(p) }

// real is a place behind its links, or p where it cannot be followed.
func (g Guard) real(p string) string {
	var at place
	if g.Links != nil && strings.HasPrefix(p, "/") && g.walk(p, true, &at) {
		return at.path
	}
	return p
}
