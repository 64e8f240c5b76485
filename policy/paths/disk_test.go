package paths

import (
	"io/fs"
	"testing"
)

// laid is a disk by what stands at its paths; a link has its end.
type laid map[string]string

func (l laid) Look(p string) (Entry, error) {
	to, is := l[p]
	switch {
	case !is:
		return Entry{}, fs.ErrNotExist
	case to == "closed":
		return Entry{}, fs.ErrPermission
	case to != "":
		return Entry{Mode: fs.ModeSymlink, Names: 1}, nil
	}
	return Entry{Mode: fs.ModeDir | 0o755, Names: 1}, nil
}

func (l laid) Readlink(p string) (string, error)     { return l[p], nil }
func (laid) List(string, int) ([]fs.DirEntry, error) { return nil, fs.ErrNotExist }

// A name that only looks like a path is none where nothing is there, and is one wherever a file could
// be read or made.
func TestGuessed(t *testing.T) {
	disk := laid{"/srv": "", "/srv/project": "", "/srv/project/up": "/new", "/opt": "", "/opt/app": "",
		"/link": "/opt/app", "/dangling": "/none/x",
		"/dot": "/opt/..", "/closed": "closed"}
	g := Guard{Roots: Roots{Cwd: "/srv/project", Home: "/home/dev", Write: []string{"/srv/project"}},
		Links: disk}
	for name, want := range map[string]string{
		"/api": Dynamic, "/api/v1/x": Dynamic, "//app:lib": Dynamic, "//...": Dynamic, "/app/": Dynamic,
		"/foo/./x": Dynamic, "/opt/app/../../new": Dynamic,
		"/opt/app":              Outside,
		"/opt/app/new":          Outside,
		"/opt/none/new":         Outside,
		"//opt/none:x":          Outside,
		"/link":                 Outside,
		"/link/new":             Outside,
		"/dangling":             Outside,
		"/dot/new":              Outside,
		"/closed/x":             Outside,
		"/api/../opt/app/x":     Outside,
		"../new":                Outside,
		"up/x":                  Outside,
		"~/new":                 Outside,
		"/":                     Root,
		"/etc/new":              System,
		"/home/dev/.ssh/id_rsa": Secret,
		"/srv/project/a":        Workspace,
	} {
		uses := []Use{g.Word(Write, Word{Text: name}, "/srv/project", "argument")}
		g.Guessed(uses)
		if u := uses[0]; u.Class != want || (u.Class == Dynamic) != (u.Resolved == "") {
			t.Errorf("%s: %s %q, want %s", name, u.Class, u.Resolved, want)
		}
	}
	g.Links = nil
	uses := []Use{g.Word(Write, Word{Text: "/api"}, "/srv/project", "argument")}
	if g.Guessed(uses); uses[0].Class != Outside {
		t.Errorf("without a look at the disk: %s", uses[0].Class)
	}
}
