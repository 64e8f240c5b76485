package program

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestOf compares effects with those in testdata: a command after a dollar sign, its
// effect in the line below.
func TestOf(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { compare(t, file) })
	}
}

func compare(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	command := ""
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "  ") {
			b.WriteString(line)
		}
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			command = strings.TrimSuffix(c, "\n")
			fmt.Fprintf(&b, "  %s\n", describe(effectOf(command)))
			continue
		}
		if want, ok := strings.CutPrefix(line, "  "); ok && !*update {
			if got := describe(effectOf(command)); got != strings.TrimSuffix(want, "\n") {
				t.Errorf("%s\n got %s\nwant %s", command, got, want)
			}
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if b.String() != string(text) && !t.Failed() {
		t.Error("a command has no effect below it; run with -update")
	}
}

// effectOf takes a command apart. <?> is what is only known at run time.
func effectOf(command string) Effect {
	list := split(Word{Text: command})
	for i, w := range list {
		before, after, dynamic := strings.Cut(w.Text, "<?>")
		list[i] = Word{Text: before + after, Dynamic: dynamic, Begins: dynamic && before != "", Glob: strings.ContainsAny(w.Text, "*?[") && !dynamic}
	}
	return Of(list[0].Text, list[1:])
}

// describe is an effect in one line.
func describe(e Effect) string {
	var b strings.Builder
	word := func(w Word) string {
		if w.Dynamic {
			return w.Text + "<?>"
		}
		return w.Text
	}
	if !e.Known {
		b.WriteString("unknown ")
	}
	if e.Sub != "" {
		fmt.Fprintf(&b, "sub:%s ", strings.ReplaceAll(e.Sub, " ", "_"))
	}
	for _, t := range e.Touches {
		fmt.Fprintf(&b, "%s(%s) ", t.Op, word(t.Word))
	}
	for _, f := range e.Fetches {
		fmt.Fprintf(&b, "%s(%s) ", f.Method, word(f.Word))
	}
	for _, r := range e.Runs {
		b.WriteString(strings.ReplaceAll(r.Via, " ", "_") + "{")
		if r.Dir != nil {
			fmt.Fprintf(&b, "in %s: ", word(*r.Dir))
		}
		for _, name := range r.Env {
			b.WriteString(name + "= ")
		}
		for i, w := range r.Argv {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(word(w))
		}
		if r.Argv == nil && !r.Shell {
			fmt.Fprintf(&b, "`%s`", word(r.Code))
		}
		for name, on := range map[string]bool{"…": r.Lines && r.Replace == "", "shell": r.Shell} {
			if on {
				b.WriteString(" " + name)
			}
		}
		b.WriteString("} ")
	}
	for _, t := range e.Tags {
		fmt.Fprintf(&b, "#%s ", t)
	}
	if e.CodeFile != (Word{}) {
		fmt.Fprintf(&b, "code:%s ", word(e.CodeFile))
	}
	for _, x := range []struct {
		name string
		on   bool
	}{{"inline", e.Inline}, {"code:-", e.ReadsCode}, {"stdin", e.ReadsIn}, {"recursive", e.Recursive}} {
		if x.on {
			b.WriteString(x.name + " ")
		}
	}
	for _, f := range e.ExecFlags {
		fmt.Fprintf(&b, "exec:%s ", strings.ReplaceAll(f, " ", "_"))
	}
	for _, u := range e.Unsure {
		fmt.Fprintf(&b, "?%s ", strings.ReplaceAll(u, " ", "_"))
	}
	return strings.TrimSpace(b.String())
}
