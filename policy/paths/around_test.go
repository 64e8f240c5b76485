package paths

import (
	"io/fs"
	"path"
	"strings"
	"testing"
)

// A workspace under a home folder, and what may be looked at around it.
func TestAround(t *testing.T) {
	look := Roots{
		Cwd: "/home/sam/code/shop", Home: "/home/sam", Write: []string{"/home/sam/code/shop", "/tmp"},
		Read: []string{"/usr", "/home/sam/.nvm"},
		Own:  []string{"/home/sam/code/guard/rules", "/etc/gpt-oss-executor"},
		Look: []string{"/home/sam", "/etc", "/var/log"}, Homes: true,
	}
	everywhere := look
	everywhere.Look = []string{"/"}
	for _, c := range []struct {
		roots Roots
		op    Op
		path  string
		class string
	}{
		{look, Read, "~/notes/todo.md", Around}, {look, Read, "../other/README.md", Around}, {look, Read, "..", Protected}, {look, Read, "../other", Around}, {look, Read, "../other/.git/config", Outside}, {look, Read, "../other/.GIT/config", Outside}, {look, Read, "../other/.gitignore", Around},
		{look, Read, "~/code/guard", Protected}, {look, Read, "~/code/guard/rules/exec.yaml", Control}, {look, Read, "~/code/guard/main.go", Around},
		{look, Read, "~", Home}, {look, Read, "/home", Protected}, {look, Read, "/", Root}, {look, Read, "/etc", Protected}, {look, Read, "/etc/nginx/nginx.conf", Around},
		{look, Read, "/etc/ssl", Outside}, {look, Read, "/etc/ssl/private/x", Secret}, {look, Read, "/etc/ssl/certs/ca.pem", Around}, {look, Read, "/var/log", Around}, {look, Read, "/var/log/syslog", Around},
		{look, Read, "/var/lib/x", Outside}, {look, Read, "/opt/app/config.yml", Outside}, {look, Read, "/srv/x", Outside},
		{look, Read, "~/.config/someapp/token.json", Outside}, {look, Read, "~/.config", Outside}, {look, Read, "~/.unknown", Outside}, {look, Read, "~/.nvm/x", Readable},
		{look, Read, "~/.ssh/id_ed25519", Secret}, {look, Read, "~/code/other/.env", Secret}, {look, Read, "~/Library/Application Support/x", Outside}, {look, Read, "~/snap/x", Outside},
		{look, Read, "/home/kim/notes.md", Foreign}, {look, Write, "/home/kim/notes.md", Foreign}, {look, Read, "/home/kim", Foreign}, {look, Read, "/home/kim/.ssh/x", Secret}, {look, Read, "/Users/kim/x", Foreign}, {look, Read, "/Users/Shared/x", Outside},
		{look, Write, "~/notes/todo.md", Outside}, {look, Delete, "~/notes/todo.md", Outside}, {look, Write, "/etc/nginx/nginx.conf", System}, {look, Run, "~/bin/x", Outside},
		{everywhere, Read, "/opt/app/config.yml", Around}, {everywhere, Read, "/home/kim/notes.md", Foreign}, {everywhere, Read, "/etc/shadow", Secret}, {everywhere, Read, "~/.config/x/y", Outside},
		{everywhere, Read, "/var", Protected}, {everywhere, Read, "/", Root}, {everywhere, Read, "/proc/1/environ", Secret}, {everywhere, Read, "/run/secrets/x", Secret},
	} {
		if got := (Guard{Roots: c.roots}).Word(c.op, Word{Text: c.path}, c.roots.Cwd,
			"argument").Class; got != c.class {
			t.Errorf("%s %s with %v: %s, want %s", c.op, c.path, c.roots.Look, got, c.class)
		}
		if literal := (Guard{Roots: c.roots}).Literal(c.op, c.path).Class; literal != c.class {
			t.Errorf("a tool, %s %s: %s, and a command %s", c.op, c.path, literal, c.class)
		}
	}
}

// Whatever is looked at, no class is milder than without, but for what was outside.
func TestLookOnlyOpensOutside(t *testing.T) {
	closed := Roots{Cwd: "/home/sam/w", Home: "/home/sam", Write: []string{"/home/sam/w"},
		Own: []string{"/home/sam/x/own"}, Homes: true}
	open := closed
	open.Look = []string{"/", "/home/sam", "/etc", "/home/kim", "/root"}
	names := []string{"", "home", "sam", "kim", "root", "etc", "ssl", "private", "x", "own", ".ssh",
		".config", "gh", "a.txt", ".env", "var", "lib", "proc", "1", "Library", "w"}
	for _, a := range names {
		for _, b := range names {
			for _, c := range names {
				p := path.Clean("/" + a + "/" + b + "/" + c)
				for _, op := range []Op{Read, Write, Delete, Run} {
					was, is := Guard{Roots: closed}.Literal(op, p).Class, Guard{Roots: open}.Literal(op,
						p).Class
					if was != is && (op != Read || is != Around || was != Outside && was != Protected &&
						was != System) {
						t.Errorf("%s %s: %s, and with look %s", op, p, was, is)
					}
					if is == Around && (strings.HasPrefix(p, "/home/kim") || strings.HasPrefix(p, "/root") ||
						within("/home/sam", p) || within("/home/sam/x/own", p)) {
						t.Errorf("%s %s may be looked at", op, p)
					}
				}
			}
		}
	}
}

func TestUnfit(t *testing.T) {
	g := Guard{Roots: Roots{
		Home: "/home/sam", Own: []string{"/home/sam/.openclaw/openclaw.json", "/srv/guard/rules"},
		Write: []string{"/home/sam/code"}, Read: []string{"/usr"},
	}, Links: linked{"/home/sam/all": "/home/sam", "/home/sam/sys": "/etc", "/home/sam/ok": "/srv/work"}}
	for _, dir := range []string{
		"/home/sam/code/shop", "/home/sam/code", "/srv/work/api", "/tmp/x", "/workspace", "/data",
		"/home/kim/code", "/Users/kim/x", "/home/sam/ok",
		"/home/sam/.openclaw/workspace", "/home/sam/.openclaw/workspace-dev",
		"/home/sam/.openclaw/workspace/projects/a", "/mnt/disk/with blank/x",
	} {
		if why := g.Unfit(dir); why != "" {
			t.Errorf("%s is refused: %s", dir, why)
		}
	}
	for _, dir := range []string{
		"/", "/home", "/home/sam", "/home/kim", "/root", "/root/x", "/Users", "/Users/kim", "/etc",
		"/etc/nginx", "/etc/ssl", "/usr", "/usr/local", "/usr/local/src/x", "/bin", "/var", "/var/lib",
		"/proc/1/cwd", "/dev/shm",
		"/sys/x", "/boot", "/tmp", "/srv", "/srv/guard", "/srv/guard/rules", "/srv/guard/rules/x",
		"/home/sam/.ssh", "/home/sam/.config", "/home/sam/.config/x", "/home/sam/.openclaw",
		"/home/sam/.openclaw/agents", "/home/sam/.openclaw/workspace/.ssh",
		"/home/sam/Library", "/home/sam/all", "/home/sam/all/.ssh", "/home/sam/sys", "/home/sam/all/code/..",
		"code", "", "~/x", "/home/sam/code/", "/home/sam/code/../x", "/srv/a\x00b", "/srv/a\nb",
		"/srv/work/.git", "/srv/work/.git/hooks",
	} {
		if why := g.Unfit(dir); why == "" {
			t.Errorf("%s could be a workspace", dir)
		}
	}
}

// linked is a disk of folders on which some are links.
type linked map[string]string

func (l linked) Look(p string) (Entry, error) {
	if _, is := l[p]; is {
		return Entry{Mode: fs.ModeSymlink, Names: 1}, nil
	}
	return Entry{Mode: fs.ModeDir | 0o755, Names: 2}, nil
}

func (l linked) Readlink(p string) (string, error) { return l[p], nil }

func (l linked) List(string, int) ([]fs.DirEntry, error) { return nil, nil }
