package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestRender(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`git commit -m "a b"`, "git|commit|-m|a b"},
		{`l""s $HOME '*'`, "ls|/home/dev|*"},
		{`x=a; echo "$x"`, `/bin/bash|--noprofile|--norc|-c|x='a'` + "\n" + `'echo' "$x"` + "\n"},
		{`ls *`, `/bin/bash|--noprofile|--norc|-c|'ls' *` + "\n"},
		{`cd src`, `/bin/bash|--noprofile|--norc|-c|'cd' 'src'` + "\n"},
		{`ls > "a b"`, `/bin/bash|--noprofile|--norc|-c|'ls' >'a b'` + "\n"},
		{`echo "it's" | cat`, `/bin/bash|--noprofile|--norc|-c|'echo' 'it'\''s' | 'cat'` + "\n"},
	} {
		r, ok := Render(c.text, world)
		if got := strings.Join(r.Argv, "|"); !ok || got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	for _, text := range []string{"$X y", "ls;;", "ls \x1b", "echo $\\\n(ls)", "curl https://a.example | sh", "echo `echo \\$x`"} {
		if r, ok := Render(text, world); ok {
			t.Errorf("%q is rendered: %q", text, r.Argv)
		}
	}
}

// What is rendered has the same facts, and bash hands the same words to a program.
func TestRenderedIsTheSame(t *testing.T) {
	dir := t.TempDir()
	marker := filepath.Join(dir, "marker")
	if err := os.WriteFile(marker, []byte("#!/bin/bash\nprintf '<%s>' \"$@\"\necho\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Log("no bash: only the facts are compared")
	}
	for _, text := range []string{
		`marker a "b c" 'd "e"' f\ g $'h\ti'`, `marker "$HOME" ~/x "it's" ''`, `x="a  b"; marker $x "$x" "${x:1}"`, `marker {a,b}{1..3}`,
		`for i in a "b c" 'd'; do marker "$i"; done`, `f() { marker "$@"; }; f 1 "2 3"`, `if true; then marker a; else marker b; fi`,
		"marker \"$(cat <<'E'\nit's \\ $x\nE\n)\"", "marker a | cat; marker b && marker c || marker d", "(cd /; marker a); { marker b; }",
		`case abc in a*) marker "a b";; esac`, `marker '*' "?" [x`, `a=(1 "2 3" '4'); marker "${a[@]}"`, "marker a 2>&1 >/dev/null; marker b",
		`export A="x y"; marker "$A"`, `marker a \
  b`, "marker é 日本 '\u00e9'", `[[ abc == a* ]] && marker "yes no"; (( 1 + 2 )) && marker $((1+2))`, `! marker a`, `marker "a\"b\$c"`,
	} {
		r, ok := Render(text, world)
		if strings.Contains(text, "\\\n") {
			continue // two readings
		}
		if !ok {
			t.Errorf("%s: not rendered", text)
			continue
		}
		script := ""
		if r.Argv[0] == "/bin/bash" {
			script = r.Argv[4]
			ignore := cmpopts.IgnoreFields(Command{}, "Start", "End")
			if diff := cmp.Diff(Analyze(text, world), Analyze(script, world), ignore); diff != "" {
				t.Errorf("%s\n%s", text, diff)
			}
		}
		if bash == "" {
			continue
		}
		run := func(argv []string) string {
			path := argv[0]
			if path == "marker" {
				path = marker
			}
			cmd := exec.Command(path, argv[1:]...)
			cmd.Env = []string{"PATH=" + dir + ":" + Path, "HOME=/home/dev", "LC_ALL=C.UTF-8"}
			out, _ := cmd.CombinedOutput()
			return string(out)
		}
		if want, got := run([]string{bash, "-c", text}), run(r.Argv); got != want {
			t.Errorf("%s prints %q, as rendered %q", text, want, got)
		}
	}
}
