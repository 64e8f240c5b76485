package tools

import (
	"strings"
	"testing"
)

func TestDoubt(t *testing.T) {
	for _, row := range []struct {
		kind TextKind
		text string
		good bool
	}{
		{Command, "ls -la", true},
		{Command, "npm install", true},
		{Command, "./run.sh --all", true},
		{Command, "cd src && go test ./...", true},
		{Command, `git commit -m "Mend the reader, at last."`, true},
		{Command, `FOO=bar make all`, true},
		{Command, "for f in *.txt; do wc -l $f; done", true},
		{Command, "# first\nls -la", true},
		{Command, `"$HOME/bin/tool" -v`, true},
		{Command, "find . -name '*.go' | xargs grep -l main", true},
		{Command, "cat <<'EOF' > a.txt\nSorry, I cannot do that.\nEOF", true},
		{Command, "Sorry, I cannot do that.", false},
		{Command, "let me look at that file", false},
		{Command, "ich kann das nicht", false},
		{Command, "no puedo hacer eso.", false},
		{Command, "не могу", false},
		{Command, "できません", false},
		{Command, "done!", false},
		{Command, "I don't know", false},
		{Command, "i don't think we can't", false},
		{Command, "wait, what", false},
		{Command, "# nothing but a note", false},
		{Path, "docs/Q3 report (final).txt", true},
		{Path, `a";"limit":5`, false},
		{Path, "<path>a</path>", false},
		{Path, "a\nb", false},
		{Path, "--path a", false},
		{Path, `read(path)`, false},
		{Path, "\x1b[0ma", false},
		{URL, "https://example.org/a?b=c", true},
		{URL, `https://example.org/"`, false},
		{Command, `="ls"`, false},
		{Command, ": ls", false},
		{Command, `{"command": "ls"`, false},
		{Command, `[{"command": "ls"}]`, false},
		{Command, `json="ls"`, false},
		{Command, "ls `", false},
		{Command, "(none)", false},
		{Command, "", false},

		{Code, "print('Hello, world!')", true},
		{Code, "from os import path\nprint(path)", true},
		{Code, "x", true},
		{Code, "import sympy as sp", true},
		{Code, "import the data as discussed", false},
		{Code, "SELECT name FROM users", true},
		{Code, "[x for x in y]", true},
		{Code, "I will print the numbers.", false},
		{Code, "Désolé, je ne peux pas.", false},
		{Code, "わかりました", false},
		{Code, `{"code": "x"}`, false},
		{Code, "%7B%22code%22%3A1%7D", false},
		{Code, "eyJjb2RlIjoxfQ==", false},

		{Prose, "Where is the tide table?", true},
		{Prose, "潮汐表", true},
		{Prose, `{"query": "tide`, false},
		{Prose, ": tide", false},
		{Path, "docs/my notes.md", true},
		{Path, "I will look at the file now", false},
		{URL, "https://go.dev", true},
		{URL, "the page of Go", false},
		{Patch, "diff --git a b\n", true},
		{Patch, "I changed it.", false},
		{Text, "anything: at all", true},
	} {
		if why := row.kind.Doubt(row.text); (why == "") != row.good {
			t.Errorf("%s %q: %q", row.kind, row.text, why)
		}
	}
}

func TestClean(t *testing.T) {
	for _, row := range []struct {
		kind       TextKind
		text, want string
	}{
		{Command, "```sh\nls\n```", "ls"},
		{Command, "code: \"ls -la\"", "ls -la"},
		{Command, "'ls -la'", "ls -la"},
		{Command, "`date`", "`date`"},
		{Command, `"a" "b"`, `"a" "b"`},
		{Code, "'ls'", "'ls'"},
		{Prose, "`tide table`", "tide table"},
	} {
		if got := row.kind.Clean(row.text); got != row.want {
			t.Errorf("%s %q: got %q, want %q", row.kind, row.text, got, row.want)
		}
	}
}

func FuzzDoubt(f *testing.F) {
	for _, text := range []string{"ls", "say \"x\" & 'y'", "a+b %20", "`x`\n", "json: {}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, k := range TextKinds() {
			TextKind(k).Doubt(value)
			if plain := TextKind(k).Clean(value); !strings.Contains(value, plain) {
				t.Errorf("%q became %q", value, plain)
			}
		}
	})
}
