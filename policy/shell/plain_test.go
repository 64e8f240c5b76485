package shell

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/bash"
)

func TestPlain(t *testing.T) {
	for flaw, texts := range map[*Flaw][]string{
		nil: {
			"rm -rf build", "git reset --hard", "rm *.log", "rm {a,b} ~/x", "git commit -m 'two\nlines'", `git commit -m "a \"b\" \$x"`, "make && rm x; ls || ls | wc -l",
			"CI=1 npm publish", "echo a\nls", "ls # a comment", "ls '#' a#b", "python3 -c 'print(1)'", "python3 x.py -v", "python3.12 -c x", "node -p '1+1'", "perl -pe 's/a/b/' x", "php -r 'echo 1;'", "awk '{print}' x", "bash deploy.sh", "timeout 5 bash deploy.sh",
			"ssh host 'cd x && rm $y > z'", "docker run alpine sh -c ls", "test -f x", "env A=1 rm x", "find . -name '*.log' -exec rm {} +", "npx eslint .",
		},
		flawRedirect: {"ls > x", "rm x 2>&1", "cat <<E\nx\nE", "cat <<< x", "wc < x", "ls |& wc", "ls && rm x >> y", "> x"},
		flawValue:    {"rm $x", `rm "$HOME/x"`, "rm $(ls)", "rm `ls`", "echo $((1+2))", "rm $'a'", `rm $"a"`, "cat <(ls)", "A=$x ls", `"$x" ls`, "ls @(a|b)", "{ls,rm} x", "./* x", "echo $", `echo "a$"`, `echo \\\\$`},
		flawGroup:    {"(rm x)", "{ rm x; }", "if true; then rm x; fi", "for f in a; do rm $f; done", "f(){ rm x; }", "! rm x", "time rm x", "[[ -f x ]]", "((x))"},
		flawFolder:   {"cd build && rm x", "make; cd build", "pushd a", "cd"},
		flawBuiltin:  {"export A=1", "source x.sh", ". x", "eval ls", "exec ls", "command ls", "hash -p /tmp/x ls", "A=1", "A+=1 ls", "ENV=x ls", `"" ls`, "alias l=ls", "[ -f x ]", "A=1 time rm x", "A=1 ! rm x", "A=1 coproc x"},
		flawShell:    {"bash", "sh -c ls", "bash -lc 'ls'", "sudo bash -c ls", "nice -n 5 /bin/sh -s", "ls | sh"},
		flawLoader:   {"python3 -m pip install x", "node", "awk -f x", "busybox rm x", "deno run x.ts", "env python3 -m x", "nice python3.12 -m x", "node -e 1 -r x", "node -e", "python3 -e x", "php -e x"},
		flawEnv:      {"env -i ls", "env -C x ls"},
		flawText:     {"", " \n", "# only a comment", "ls 'x", "ls \\\nx", `ls \`, "ls\rrm x", "rm\u00a0-rf", "ls\x1b[8m", "ls \u0085", "A[0]=1 ls", strings.Repeat("a ", 1<<17)},
	} {
		for _, text := range texts {
			if got := Plain(text); got != flaw {
				t.Errorf("%.40q: %v, want %v", text, got, flaw)
			}
		}
	}
	if f := Plain("make &"); f == nil || f.Instead != "Leave & out, and set background." {
		t.Errorf("in the background: %v", f)
	}
}

// hostile is a comment that does much harm where it is none.
const hostile = "  # it's \"$(zmark)\" `zmark`; zmark && ) } fi <<E \\"

// Behind plain commands there is room for a comment. It changes nothing for the facts, and
// bash runs nothing of it.
func TestPlainTakesAComment(t *testing.T) {
	box := bash.New(t, "zmark")
	texts := []string{"ls", "ls '\n'", "echo a#b", "echo a #", "ls # b", "ls;", "ls\n", "ls \\\\", "echo '\\'", `echo "\\"`, "echo a\nls # b"}
	for g := (generator{rand.New(rand.NewSource(7))}); len(texts) < 40000; {
		texts = append(texts, g.text())
	}
	plain := 0
	for _, text := range texts {
		if Plain(text) != nil {
			continue
		}
		plain++
		was, is := Analyze(text, world), Analyze(text+hostile, world)
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
	for _, seed := range []string{"ls", "rm a\\ b", "echo 'a' \"b\"", "A=1 x", "ls|wc", "a && b; c", "env -i", "sh -c x", "ls #", "{a,b}", "a\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if Plain(text) != nil {
			return
		}
		if joined := text + "\n" + text; Plain(joined) != nil && len(joined) <= DefaultLimits.Bytes {
			t.Errorf("%q is plain, and twice it is not", text)
		}
		if Analyze(text, world).Control {
			t.Errorf("%q is plain, and has control characters", text)
		}
	})
}
