package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// job is one thing that developers do all day. It runs without a question.
type job struct {
	id, tool, args string
	result         string // a part of what the model reads of it
	file           string // that exists afterwards
}

func line(id, text, result, file string) job { return job{id, "exec", command(text), result, file} }

// work is done in this order.
func work() []job {
	return []job{
		line("list", "ls -la src", "main.go", ""),
		line("status", "git status --short --branch", "notes.txt", ""),
		line("search", "grep -rn --include='*.go' LATER src", "greet", ""),
		line("count", "sort notes.txt | uniq -c | sort -rn | head -3", "2 two", ""),
		line("part", "sed -n '2,3p' notes.txt", "three", ""),
		line("find", "find . -name '*.go' -type f -not -path './.git/*'", "./src/main.go", ""),
		line("make-folder", "mkdir -p build/bin && touch build/bin/demo", "", "build/bin/demo"),
		line("redirect", "echo 'hello, world' > build/out.txt && cat build/out.txt", "hello, world",
			"build/out.txt"),
		line("copy", "cp notes.txt build/ && mv build/notes.txt build/n2.txt && wc -l build/n2.txt",
			"4 build/n2.txt", "build/n2.txt"),
		line("loop", `for f in *.txt; do printf '%s %s\n' "$f" "$(wc -l < "$f")"; done`, "notes.txt 4", ""),
		line("test", "test -f package.json && echo found || echo missing", "found", ""),
		line("compare", "diff notes.txt build/n2.txt && echo same", "same", ""),
		line("pack", "tar czf build/src.tgz src && tar tzf build/src.tgz", "src/main.go", "build/src.tgz"),
		line("here-document", "cat > build/cfg.ini <<'EOF'\n[a]\nb = $HOME\nEOF\ncat build/cfg.ini",
			"b = $HOME", "build/cfg.ini"),
		line("commit", "git add src notes.txt && git -c user.name=a -c user.email=a@example.com commit -qm 'First' && git log --oneline", "First", ""),
		line("date", "date +%Y-%m-%d && pwd", "/ws", ""),
		line("clean", "rm -f build/n2.txt && rm -rf build/bin && ls build", "cfg.ini", ""),
		{"read", "read", `{"path":"notes.txt"}`, "three", ""},
		{"write", "write", `{"path":"src/new.go","content":"package main\n"}`, "", "src/new.go"},
		{"edit", "edit", `{"path":"src/main.go","edits":[{"oldText":"// LATER: greet","newText":"// greets nobody"}]}`, "", ""},
	}
}

// works checks that a job was done, and that nobody was asked.
func (b *bench) works(t *testing.T, j job) {
	a := b.say(t, guarded, "work-"+j.id, j.id)
	asked := b.servers[guarded].Requests(j.id)
	if a.text != "Done: "+j.id || len(asked) != 2 {
		t.Fatalf("the user reads %q after %d requests of the model: %s", a.text, len(asked),
			asked[len(asked)-1].Body)
	}
	call, result := lastCall(asked[1].Messages)
	if !sameJSON(call.Arguments, j.args) {
		t.Errorf("it ran as %s", call.Arguments)
	}
	if !strings.Contains(result.Text, j.result) || strings.Contains(result.Text, `"status": "error"`) {
		t.Errorf("the model reads %q", result.Text)
	}
	if _, err := os.Stat(filepath.Join(b.gateway.dir, j.file)); err != nil {
		t.Error(err)
	}
}
