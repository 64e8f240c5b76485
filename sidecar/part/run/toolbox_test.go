package run

import (
	"encoding/json"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a workspace with the tools in it, and the guard of the shipped rules.
type rig struct {
	t    testing.TB
	dir  string
	box  *toolbox
	runs *guard.Run
}

func lay(t testing.TB, files map[string]string) *rig {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "shop")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	metrics := telemetry.New()
	g := guard.New(guard.Config{World: guard.NewWorld(guard.Machine{Workspace: dir}), Now: time.Now,
		Metrics: metrics, Log: slog.New(slog.DiscardHandler)})
	return &rig{t, dir, &toolbox{Resolver: net.DefaultResolver, Environ: os.Environ()},
		g.Run(ruletest.Shipped(t), policy.Subject{Model: "executor"}, "run")}
}

// call runs a tool as a run does: refused is why the guard does not let it.
func (r *rig) call(name string, args map[string]any) (res tools.Result, refused string) {
	r.t.Helper()
	doc, err := json.Marshal(args)
	if err != nil {
		r.t.Fatal(err)
	}
	passed, refusal := r.runs.Check(r.t.Context(), tools.Call{Name: name, Arguments: doc, Strategy: "native",
		Confidence: 1}, guard.Observer{}, func(approvals.Entry) {})
	if refusal != nil {
		return res, refusal.Why
	}
	return r.box.Run(r.t.Context(), "id", passed), ""
}

// gives checks that a call gives a text that holds want.
func (r *rig) gives(want, name string, args map[string]any) {
	r.t.Helper()
	res, refused := r.call(name, args)
	if refused != "" || res.Failed || !strings.Contains(res.Text, want) {
		r.t.Errorf("%s %v: %+v %s, want %q", name, args, res, refused, want)
	}
}

// fails checks that a call fails, or is refused, with a text that holds want.
func (r *rig) fails(want, name string, args map[string]any) {
	r.t.Helper()
	res, refused := r.call(name, args)
	if !res.Failed && refused == "" || !strings.Contains(res.Text+refused, want) {
		r.t.Errorf("%s %v: %+v %s, want %q", name, args, res, refused, want)
	}
}

func (r *rig) holds(name, want string) {
	r.t.Helper()
	if doc, err := os.ReadFile(filepath.Join(r.dir, name)); err != nil || string(doc) != want {
		r.t.Errorf("%s holds %q, %v; want %q", name, doc, err, want)
	}
}

type m = map[string]any

func TestFiles(t *testing.T) {
	r := lay(t, map[string]string{"a.txt": "one\ntwo\nthree\n", "sub/b.go": "package b\n\nfunc B() {}\n",
		"bin": "a\x00b", ".env": "KEY=1\n", "empty": "", "aaa": "aaa"})
	r.gives("one\ntwo\nthree\n", "read", m{"path": "a.txt"})
	r.gives("two\n\n[lines 2 to 2 of 3; go on with offset 3]", "read", m{"path": "a.txt", "offset": 2,
		"limit": 1})
	r.gives("", "read", m{"path": "empty"})
	r.fails("has only 3 lines", "read", m{"path": "a.txt", "offset": 9})
	r.fails("no such file", "read", m{"path": "none"})
	r.fails("is no text", "read", m{"path": "bin"})
	r.fails("is a folder", "read", m{"path": "sub"})
	r.fails("", "read", m{"path": ".env"})
	r.fails("", "read", m{"path": "/etc/shadow"})

	r.gives("Wrote new/c.txt: 2 bytes.", "write", m{"path": "new/c.txt", "content": "hi"})
	r.holds("new/c.txt", "hi")
	r.fails("", "write", m{"path": "/etc/cron.d/x", "content": "hi"})
	r.fails("", "write", m{"path": "/srv/out.txt", "content": "hi"})
	r.fails("directory", "write", m{"path": "sub", "content": "hi"})

	r.gives("Changed a.txt.", "edit", m{"path": "a.txt", "oldText": "two", "newText": "2"})
	r.holds("a.txt", "one\n2\nthree\n")
	r.fails("does not stand in", "edit", m{"path": "a.txt", "oldText": "two", "newText": "2"})
	r.fails("more than once", "edit", m{"path": "a.txt", "oldText": "e\n", "newText": "2"})
	r.fails("more than once", "edit", m{"path": "aaa", "oldText": "aa", "newText": "b"})
	r.fails("the same", "edit", m{"path": "a.txt", "oldText": "one", "newText": "one"})

	r.gives("a.txt\naaa\nbin\nempty\nnew/\nsub/\n", "ls", m{})
	r.gives("b.go", "ls", m{"path": "sub"})
	r.gives("sub/b.go:3: func B() {}", "grep", m{"pattern": "func +B"})
	r.gives("(nothing found)", "grep", m{"pattern": "KEY"}) // it stands in .env, which no call may read
	r.gives("(nothing found)", "grep", m{"pattern": "func", "glob": "*.txt"})
	r.gives("a.txt:1: one", "grep", m{"pattern": "^one$", "path": "a.txt"})
	r.fails("missing closing", "grep", m{"pattern": "("})
	r.gives("sub/b.go\n", "glob", m{"pattern": "**/*.go"})
	r.gives("b.go\n", "glob", m{"pattern": "*.go", "path": "sub"})
	r.fails("is no pattern", "glob", m{"pattern": "[a"})
}

// A pattern is about what lies below the folder that is searched, whatever that is called.
func TestSearch(t *testing.T) {
	r := lay(t, map[string]string{".github/ci.yml": "needle\n", "sub/x/b.go": "needle\n", "bin": "a\x00b",
		"long": strings.Repeat("x\n", maxShown)})
	r.gives(".github/ci.yml:1: needle", "grep", m{"pattern": "needle", "glob": ".github/*.yml"})
	for _, folder := range []string{"sub", "./sub", "sub/", "x/../sub", r.dir + "/sub"} {
		r.gives("sub/x/b.go:1: needle", "grep", m{"pattern": "needle", "path": folder, "glob": "x/*.go"})
		r.gives("sub/x/b.go\n", "glob", m{"pattern": "x/*.go", "path": folder})
	}
	r.gives("(nothing found)", "grep", m{"pattern": "needle", "path": "sub/x/b.go", "glob": "*.txt"})
	r.fails("bin is no text", "grep", m{"pattern": "x", "path": "bin"})
	if res, _ := r.call("grep", m{"pattern": "x", "limit": math.MaxInt64}); len(res.Text) > 2*maxShown ||
		!strings.HasSuffix(res.Text, "[there is more; narrow the search]\n") {
		t.Errorf("%d bytes of lines are given", len(res.Text))
	}
}

// That not all files of a large folder were looked at is said.
func TestSearchOfMany(t *testing.T) {
	if testing.Short() {
		t.Skip("20,000 files")
	}
	r := lay(t, nil)
	for i := range maxVisited + 1 {
		if err := os.WriteFile(filepath.Join(r.dir, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.fails("more than 20000 files", "glob", m{"pattern": "none"})
	r.gives("more than 20000 files", "glob", m{"pattern": "1?"})
}

// A link or a second name leads nowhere, whatever it is called.
func TestLinks(t *testing.T) {
	r := lay(t, map[string]string{"a.txt": "inside"})
	out := filepath.Dir(r.dir)
	for name, err := range map[string]error{
		"secret": os.WriteFile(out+"/id_rsa", []byte("outside"), 0o600), "link": os.Symlink(out+"/id_rsa",
			r.dir+"/link"),
		"folder": os.Symlink(out, r.dir+"/folder"), "loop": os.Symlink("loop", r.dir+"/loop"),
	} {
		if err != nil {
			t.Fatal(name, err)
		}
	}
	r.fails("", "read", m{"path": "link"})
	r.fails("", "write", m{"path": "link", "content": "x"})
	r.fails("", "read", m{"path": "loop"})
	r.gives("(nothing found)", "grep", m{"pattern": "outside"})
	if doc, err := os.ReadFile(out + "/id_rsa"); err != nil || string(doc) != "outside" {
		t.Errorf("%q, %v", doc, err)
	}
}

func TestPatch(t *testing.T) {
	r := lay(t, map[string]string{"a.txt": "1\n2\n3\n4\n5\n", "gone.txt": "x\n", "move.txt": "old\n"})
	r.gives("added dir/new.txt\nchanged a.txt\ndeleted gone.txt\nchanged move.txt, which is now moved.txt", "apply_patch", m{"input": `*** Begin Patch
*** Add File: dir/new.txt
+hello
+there
*** Update File: a.txt
@@ 1
 2
-3
+three
@@
-5
+five
*** End of File
*** Delete File: gone.txt
*** Update File: move.txt
*** Move to: moved.txt
@@
-old
+new
*** End Patch`})
	r.holds("dir/new.txt", "hello\nthere\n")
	r.holds("a.txt", "1\n2\nthree\n4\nfive\n")
	r.holds("moved.txt", "new\n")
	if _, err := os.Stat(filepath.Join(r.dir, "gone.txt")); !os.IsNotExist(err) {
		t.Error("gone.txt is still there")
	}
	for want, patch := range map[string]string{
		"patch:1: a patch begins":               "--- a\n+++ b",
		"does not end with":                     "*** Begin Patch\n*** Update File: a.txt\n@@\n-1",
		"belongs to no file":                    "*** Begin Patch\n-1\n*** Add File: q\n*** End Patch",
		"patch:3: these lines do not stand":     "*** Begin Patch\n*** Update File: a.txt\n@@\n-nothing\n+x\n*** End Patch",
		"is there already":                      "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch",
		"no such file":                          "*** Begin Patch\n*** Update File: none.txt\n@@\n-a\n+b\n*** End Patch",
		"twice":                                 "*** Begin Patch\n*** Update File: a.txt\n@@\n-1\n+b\n*** Update File: a.txt\n@@\n-2\n+b\n*** End Patch",
		"begins with a blank":                   "*** Begin Patch\n*** Update File: a.txt\n@@\nx\n*** End Patch",
		"each line of a new file begins with +": "*** Begin Patch\n*** Add File: q.txt\nx\n*** End Patch",
	} {
		r.fails(want, "apply_patch", m{"input": patch})
	}
	r.holds("a.txt", "1\n2\nthree\n4\nfive\n")
	r.fails("", "apply_patch", m{"input": "*** Begin Patch\n*** Add File: /srv/out.txt\n+x\n*** End Patch"})
}

func TestExec(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("bash and process groups")
	}
	r := lay(t, map[string]string{"a.txt": "hi\n", "sub/b.txt": "b\n",
		"long": strings.Repeat("語", maxOutput/3+20)})
	t.Setenv("SECRET_TOKEN", "s3cret")
	r.box.Environ = os.Environ()
	r.gives("hi\n", "exec", m{"command": "cat a.txt"})
	r.gives("b.txt\n", "exec", m{"command": "ls", "workdir": "sub"})
	r.gives("", "exec", m{"command": "true"})
	r.fails("(exit code 1)", "exec", m{"command": "ls | grep nothing"})
	r.fails("", "exec", m{"command": "rm -rf /"})
	r.gives("bytes left out]", "exec", m{"command": "seq 1 200000"})
	// each half would end within a character
	r.gives("語\n[63 bytes left out]\n語", "exec", m{"command": "cat long"})
	if res, refused := r.call("exec", m{"command": "env"}); strings.Contains(res.Text, "s3cret") {
		t.Errorf("a secret of the environment reaches a command: %s %s", res.Text, refused)
	}
	res, refused := r.call("exec", m{"command": "sleep 3600", "timeoutSeconds": 1})
	if refused != "" || !res.Failed || !res.Doubt {
		t.Errorf("%+v %s", res, refused)
	}
}

func TestFetch(t *testing.T) {
	r := lay(t, nil)
	for _, url := range []string{"http://127.0.0.1:1/", "http://169.254.169.254/latest/meta-data/",
		"file:///etc/passwd", "http://localhost:8001/"} {
		r.fails("", "fetch", m{"url": url})
	}
	for page, want := range map[string]string{
		`<html><head><title>T</title><style>x{}</style></head><body><h1>Head</h1><p>One  two<script>no()</script></p><a href="https://a.example/">link</a></body></html>`: "T\nHead\nOne two\nlink (https://a.example/)",
		`<!doctype html><head><meta charset=utf-8><title>T</title><script>no()</script><body><h1>Head</h1><p>All of the text.`:                                            "T\nHead\nAll of the text.",
		`<p>One <svg><title>no</title></svg><a href="/x">link</a>`:                                                                                                        "One\nlink",
	} {
		if text, err := documentText([]byte(page), "text/html; charset=utf-8", "text/html"); err != nil ||
			text != want {
			t.Errorf("%q, %v; want %q", text, err, want)
		}
	}
	if text, _ := clip("日本語", byteLen("日本語", 2)); text != "日本" {
		t.Errorf("two characters are %q", text)
	}
	if text, err := documentText([]byte("gr\xfc\xdfe"), "text/plain; charset=latin1", "text/plain"); err != nil ||
		text != "grüße" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := documentText([]byte("\x89PNG\x00\x00"), "image/png", "image/png"); err == nil {
		t.Error("a picture is text")
	}
}

// Whatever a patch says, reading it ends, and applying it loses no line that it does not name.
func FuzzPatch(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a\n@@ x\n-1\n+2\n*** End of File\n*** End Patch", "1\nx\n1\n")
	f.Fuzz(func(t *testing.T, patch, text string) {
		list, err := parsePatch(patch)
		if err != nil {
			return
		}
		for i := range list {
			removed := 0
			for _, h := range list[i].hunks {
				for _, line := range h.lines {
					if line[0] == '-' {
						removed++
					}
				}
			}
			out, err := list[i].apply(t.Context(), text)
			if err == nil && strings.Count(out, "\n") < strings.Count(text, "\n")-removed {
				t.Fatalf("%q became %q", text, out)
			}
		}
	})
}
