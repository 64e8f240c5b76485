package paths

import (
	"path"
	"strings"
	"testing"
)

// Whatever a path is: it has a class, what may be written is inside a root, and detours
// make no difference.
func FuzzGuard(f *testing.F) {
	for _, seed := range []string{
		"a/b", "../x", "/etc/shadow", "~/x", "~root/", "$X/y", "*", "/*", ".*", "[a/../b", "{a,b}",
		".GIT/config", "git~1", "a\x00", "file:///tmp/x", "@x", "/proc/self/root/", "/dev/tcp/h/1",
		".env.local", "id_rsa", "\uff0e\uff0e/",
		"a//../.././b/", "!(x)/..", ".ssh/../.ssh/x", "x/[", "/tmp/[!a]*/..", "C:\\x",
		strings.Repeat("a/", 300),
	} {
		for n := range byte(4) {
			f.Add(seed, n, n%2 == 0, n%3 == 0, len(seed)/2)
		}
	}
	ops := []Op{Read, Write, Delete, Run}
	g := Guard{Roots: roots}
	f.Fuzz(func(t *testing.T, text string, n byte, dynamic, glob bool, prefix int) {
		op := ops[int(n)%len(ops)]
		lit := g.Literal(op, text)
		word := g.Word(op, Word{Text: text, Dynamic: dynamic, Glob: glob, Prefix: max(0, prefix)}, roots.Cwd,
			"argument")
		g.Word(op, Word{Text: text, Dynamic: dynamic, Glob: glob, Prefix: max(0, prefix)}, "", "argument")
		for _, u := range []Use{lit, word} {
			if _, ok := developer[u.Class]; !ok {
				t.Fatalf("%q has the class %q", text, u.Class)
			}
			if op != Run && op != Read && allowed(u) && u.Class != Null && !inside(u.Resolved) {
				t.Fatalf("%s of %q is allowed and outside: %+v", op, text, u)
			}
			if u.Resolved != "" && u.Resolved != path.Clean(u.Resolved) {
				t.Fatalf("%q resolves to %q", text, u.Resolved)
			}
		}
		if glob || dynamic || text == "" || text[0] == '/' || text[0] == '~' || len(text) > 3000 {
			return
		}
		plain := g.Word(op, Word{Text: text}, roots.Cwd, "argument")
		for _, detour := range []string{"./" + text, "x/../" + text, "/srv//project/./" + text,
			"../project/" + text, "/tmp/../srv/project/y/../" + text} {
			if u := g.Word(op, Word{Text: detour}, roots.Cwd, "argument"); u.Class != plain.Class ||
				u.Resolved != plain.Resolved {
				t.Fatalf("%s %q is %s %s, but %q is %s %s", op, text, plain.Class, plain.Resolved, detour,
					u.Class, u.Resolved)
			}
		}
	})
}

func inside(p string) bool {
	return within(p, "/srv/project") && !within(p, "/srv/project/rules") || within(p, "/tmp")
}

func BenchmarkGuard(b *testing.B) {
	g := Guard{Roots: roots}
	for name, w := range map[string]Word{
		"relative": {Text: "src/policy/paths/guard.go"}, "upper": {Text: "docs/README.md"}, "secret": {Text: "/home/agent/.ssh/id_ed25519"}, "system": {Text: "/usr/share/dict/words"},
		"glob": {Text: "src/*.go", Glob: true}, "dotglob": {Text: ".e*", Glob: true}, "dynamic": {Text: "build/", Dynamic: true, Prefix: 6},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g.Word(Read, w, roots.Cwd, "argument")
			}
		})
	}
	b.Run("literal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			g.Literal(Write, "src/policy/paths/guard.go")
		}
	})
}
