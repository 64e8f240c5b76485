package policy

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
)

func TestPlain(t *testing.T) {
	for flaw, texts := range map[*Flaw][]string{
		nil: {
			"rm -rf build", "git reset --hard", "rm *.log", "rm {a,b} ~/x", "git commit -m 'two\nlines'",
			`git commit -m "a \"b\" \$x"`, "make && rm x; ls || ls | wc -l",
			"CI=1 npm publish", "echo a\nls", "ls # a comment", "ls '#' a#b", "python3 -c 'print(1)'",
			"python3 x.py -v", "python3.12 -c x", "node -p '1+1'", "perl -pe 's/a/b/' x", "php -r 'echo 1;'",
			"awk '{print}' x", "bash deploy.sh", "timeout 5 bash deploy.sh",
			"ssh host 'cd x && rm $y > z'", "docker run alpine sh -c ls", "test -f x", "env A=1 rm x",
			"find . -name '*.log' -exec rm {} +", "npx eslint .",
		},
		flawRedirect: {"ls > x", "rm x 2>&1", "cat <<E\nx\nE", "cat <<< x", "wc < x", "ls |& wc",
			"ls && rm x >> y", "> x"},
		flawValue: {"rm $x", `rm "$HOME/x"`, "rm $(ls)", "rm `ls`", "echo $((1+2))", "rm $'a'", `rm $"a"`,
			"cat <(ls)", "A=$x ls", `"$x" ls`, "ls @(a|b)", "{ls,rm} x", "./* x", "echo $", `echo "a$"`,
			`echo \\\\$`},
		flawGroup: {"(rm x)", "{ rm x; }", "if true; then rm x; fi", "for f in a; do rm $f; done",
			"f(){ rm x; }", "! rm x", "time rm x", "[[ -f x ]]", "((x))"},
		flawFolder: {"cd build && rm x", "make; cd build", "pushd a", "cd"},
		flawBuiltin: {"export A=1", "source x.sh", ". x", "eval ls", "exec ls", "command ls",
			"hash -p /tmp/x ls", "A=1", "A+=1 ls", "ENV=x ls", `"" ls`, "alias l=ls", "[ -f x ]",
			"A=1 time rm x", "A=1 ! rm x", "A=1 coproc x"},
		flawShell: {"bash", "sh -c ls", "bash -lc 'ls'", "sudo bash -c ls", "nice -n 5 /bin/sh -s",
			"ls | sh"},
		flawLoader: {"python3 -m pip install x", "node", "awk -f x", "busybox rm x", "deno run x.ts",
			"env python3 -m x", "nice python3.12 -m x", "node -e 1 -r x", "node -e", "python3 -e x",
			"php -e x"},
		flawEnv: {"env -i ls", "env -C x ls"},
		flawText: {"", " \n", "# only a comment", "ls 'x", "ls \\\nx", `ls \`, "ls\rrm x", "rm\u00a0-rf",
			"ls\x1b[8m", "ls \u0085", "A[0]=1 ls", strings.Repeat("a ", 1<<17)},
	} {
		for _, text := range texts {
			if got := CheckPlain(text); got != flaw {
				t.Errorf("%.40q: %v, want %v", text, got, flaw)
			}
		}
	}
	if f := CheckPlain("make &"); f == nil || f.Instead != "Leave & out, and set background." {
		t.Errorf("in the background: %v", f)
	}
}

// hostile is a comment that does much harm where it is none.
const hostile = "  # it's \"$(zmark)\" `zmark`; zmark && ) } fi <<E \\"

// Behind plain commands there is room for a comment. It changes nothing for the facts, and
// bash runs nothing of it.
func TestPlainTakesAComment(t *testing.T) {
	box := testkit.NewBash(t, "zmark")
	texts := []string{"ls", "ls '\n'", "echo a#b", "echo a #", "ls # b", "ls;", "ls\n", "ls \\\\",
		"echo '\\'", `echo "\\"`, "echo a\nls # b"}
	count := 20000
	if testing.Short() {
		count = 4000
	}
	for g := rand.New(rand.NewSource(7)); len(texts) < count; {
		texts = append(texts, madeUp(g))
	}
	plain := 0
	for _, text := range texts {
		if CheckPlain(text) != nil {
			continue
		}
		plain++
		was, is := shell.Analyze(text, world), shell.Analyze(text+hostile, world)
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("%q is changed by a comment: %s", text, diff)
		}
		if plain%10 == 0 && !box.Ran(t, text) && box.Ran(t, text+hostile) {
			t.Errorf("bash runs what is in the comment behind %q", text)
		}
	}
	if plain < 500 {
		t.Errorf("only %d texts are plain", plain)
	}
	t.Logf("%d of %d texts are plain", plain, len(texts))
}

// What is plain stays plain if it is joined, and hides nothing from a reader.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"ls", "rm a\\ b", "echo 'a' \"b\"", "A=1 x", "ls|wc", "a && b; c", "env -i",
		"sh -c x", "ls #", "{a,b}", "a\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if CheckPlain(text) != nil {
			return
		}
		if joined := text + "\n" + text; CheckPlain(joined) != nil && len(joined) <= shell.DefaultLimits.Bytes {
			t.Errorf("%q is plain, and twice it is not", text)
		}
		if shell.Analyze(text, world).Control {
			t.Errorf("%q is plain, and has control characters", text)
		}
	})
}

var world = shell.World{Programs: testkit.ShippedPrograms(),
	Guard: paths.Guard{Roots: paths.Roots{Cwd: "/proj/app", Home: "/home/dev", Write: []string{"/proj/app",
		"/tmp"}}}}

// madeUp is a list of commands, one of its characters changed now and then.
func madeUp(g *rand.Rand) string {
	words := []string{"zmark", "echo", "ls", "a", "'b c'", `"d e"`, `\f`, `"\$g"`, "-n", "x=1", "*", "a#b",
		"''", "find", "env", "sh", "cd"}
	joins := []string{" ", " ", " ", " && ", " || ", "; ", " | ", "\n"}
	text := words[g.Intn(3)]
	for range g.Intn(6) {
		text += joins[g.Intn(len(joins))] + words[g.Intn(len(words))]
	}
	const odd = "'\"\\$`()\n ;|<>#{}[]=!~-*&"
	if i := g.Intn(3 * len(text)); i < len(text) {
		return text[:i] + string(odd[g.Intn(len(odd))]) + text[i+1:]
	}
	return text
}
