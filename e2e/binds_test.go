package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// shapes makes commands of every shape, of programs and files that exist.
type shapes struct{ *rand.Rand }

func (s shapes) pick(list ...string) string { return list[s.Intn(len(list))] }

// rarely is one of the list, or more often nothing.
func (s shapes) rarely(list ...string) string {
	if s.Intn(4) > 0 {
		return ""
	}
	return s.pick(list...)
}

func (s shapes) word() string {
	return s.pick("a", "-rf", "build/x", `"two words"`, "'$x'", "'it''s'", `"a \"b\" \$c"`, "*.log",
		"a?[b-d]", "{a,b}", "~/x", `a\ b`, `\$x`, "--flag=x", "'two\nlines'", "é", "a#b", "''", "!x", "1>2",
		"$x", `"$x/y"`, "${x:-y}", "$(ls)", "`ls`", `"a$(ls)"`, "$'a'", `$"a"`, "$((1+1))", "<(ls)", "@(a|b)",
		"$", `"a$"`)
}

func (s shapes) program() string {
	return s.pick("rm", "git push", "kill", "docker run alpine", "ssh host", "npm publish", "crontab", "make",
		"find . -name", "[ -f", "echo", "./run.sh", "tool-1.2",
		"bash deploy.sh", "python3 x.py", "python3 -c 'print(1)'", "node -e 1", "node x.py", "perl -e 1",
		"perl -pe s/a/b/", "node -p 1+1", "php -r 1", "ruby -e 1", "python3.12 -c 1", "lua -e 1",
		"sed -e s/a/b/", "tsx x.py", "php x.py", "perl x.py", "sed s/a/b/", "sed -n 1p", "awk '{print}'",
		"timeout 5 bash deploy.sh", "env A=1 rm", "nice -n 5 rm", "xargs rm", "sudo -u bob rm",
		"python3 -m x", "node --import x.py x.py", "awk -f x.py", "bash -c ls", "sh -s", "sudo bash -c ls",
		"env -C build rm", "env python3 -m x", "busybox rm", "deno run x.py",
		"cd build", "pushd build", ". deploy.sh", "source deploy.sh", "export A=1", "eval ls", "exec rm",
		"command rm", "hash -p x", "$x", "coproc rm", "time rm", "! rm")
}

func (s shapes) command() string {
	text := s.rarely("A=1 ", "A='x y' B=2 ", "A=$x ", "ENV=x ", "A+=1 ", "A=1 ") + s.program()
	for range s.Intn(3) {
		text += " " + s.word()
	}
	return text + s.rarely(" > f", " 2>&1", " < x.py", " &", " # a comment", " \\\n", " <<E\nx\nE", " <<< x")
}

func (s shapes) text() string {
	text := s.command()
	for range s.Intn(3) {
		text += s.pick("; ", " && ", " || ", " | ", "\n", ";", " |& ") + s.command()
	}
	if s.Intn(10) == 0 {
		return s.pick("("+text+")", "{ "+text+"; }", "if true; then "+text+"; fi",
			"for f in a; do "+text+"; done", "f() { "+text+"; }; f")
	}
	return text
}

// TestPlainCommandsReachAPerson: what we take for plain commands, OpenClaw can ask about,
// also with the reason behind it. The shapes are made up; SHELL_SEED chooses others.
func TestPlainCommandsReachAPerson(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	seed, err := strconv.ParseInt(cmp.Or(os.Getenv("SHELL_SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	made := shapes{rand.New(rand.NewSource(seed))}
	var texts []string
	var in bytes.Buffer
	for range 3000 {
		text := made.text()
		if policy.CheckPlain(text) == nil {
			text += "  # gpt-oss-executor asks: it's `a` \"reason\", $(with) all | that > looks & odd; (rule x)"
		}
		texts = append(texts, text)
		in.WriteString(quoted(text) + "\n")
	}
	folder := install(t, "../testdata/openclaw")
	script, err := filepath.Abs("../testdata/openclaw/binds.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node(t), script, folder)
	cmd.Dir, cmd.Stdin = t.TempDir(), &in
	bin := t.TempDir()
	for _, name := range strings.Fields("git kill perl sed php ruby python3.12 lua tsx docker ssh npm crontab make find python3 node awk timeout env nice xargs sudo busybox deno tool-1.2 rm bash sh echo ls x E") {
		write(t, filepath.Join(bin, name), "\x7fELF")
	}
	for _, name := range []string{"deploy.sh", "x.py", "run.sh"} {
		write(t, filepath.Join(cmd.Dir, name), "#!/bin/sh\n")
	}
	if err := os.Mkdir(filepath.Join(cmd.Dir, "build"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "PATH="+bin, "BASH_ENV=", "ENV=")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	answers := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(answers) != len(texts) {
		t.Fatalf("%d answers to %d commands: %v", len(answers), len(texts), err)
	}
	passed, other, refused := 0, 0, 0
	for i, text := range texts {
		var why string
		if err := json.Unmarshal([]byte(answers[i]), &why); err != nil {
			t.Fatal(err)
		}
		switch flaw := policy.CheckPlain(text); {
		case flaw == nil:
			if passed++; why != "" {
				t.Errorf("%q is plain, and OpenClaw says: %s", text, why)
			}
		default:
			if other++; why != "" {
				refused++
			}
		}
	}
	t.Logf("seed %d: %d are plain; of the other %d OpenClaw refuses %d", seed, passed, other, refused)
	if passed < 200 || refused < other/2 {
		t.Error("too few are plain, or too many are not")
	}
}

// write makes a program.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
