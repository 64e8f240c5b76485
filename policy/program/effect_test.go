package program

import (
	"fmt"
	"strings"
	"testing"
)

// effectCase is a command, and its effect as describe writes it.
type effectCase struct{ command, want string }

func effectsAre(t *testing.T, cases []effectCase) {
	t.Helper()
	for _, c := range cases {
		if got := describe(effectOf(c.command)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.command, got, c.want)
		}
	}
}

func effectOf(command string) Effect {
	list := effectWords(command)
	return Of(list[0].Text, list[1:])
}

// effectWords takes a command apart. <?> is what is only known at run time.
func effectWords(command string) []Word {
	list := split(Word{Text: command})
	for i, w := range list {
		before, after, dynamic := strings.Cut(w.Text, "<?>")
		list[i] = Word{Text: before + after, Dynamic: dynamic, Begins: dynamic && before != "", Glob: strings.ContainsAny(w.Text, "*?[") && !dynamic}
	}
	return list
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
		if r.Lines && r.Replace == "" {
			b.WriteString(" …")
		}
		for _, x := range []struct {
			name string
			on   bool
		}{{" shell", r.Shell}, {" by_nul", r.NulLines}, {" by_line", r.WholeLine}, {" in_groups", r.Groups}} {
			if x.on {
				b.WriteString(x.name)
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
	}{{"inline", e.Inline}, {"code:-", e.ReadsCode}, {"stdin", e.ReadsIn}, {"recursive", e.Recursive}, {"follows", e.Follows}} {
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
