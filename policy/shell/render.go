package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Rendering is how to run exactly what was judged: as a process with these arguments,
// the environment Env and nothing else in it, and /dev/null as standard input.
type Rendering struct {
	Argv []string
	Env  []string // NAME=value
}

// Path is where a rendered script looks for programs.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Render writes out a text of which nothing is left open. One simple command becomes
// its own arguments, without a shell; anything else becomes a script in which every
// word that is known as it stands is quoted. It is not ok where a part of the text is
// only known at run time or can be read in two ways: such a text runs as it is, or not
// at all.
func Render(text string, w World) (r Rendering, ok bool) {
	s := Analyze(text, w)
	if !s.Parsed || s.OverBudget || s.Control || s.Invisible || len(s.Dynamic) > 0 {
		return Rendering{}, false
	}
	a := newAnalysis(w)
	readings := a.readings(text)
	if len(readings) != 1 || len(a.backquotes) > 0 {
		return Rendering{}, false
	}
	file := readings[0].file
	r.Env = []string{"PATH=" + Path}
	if w.Guard.Roots.Home != "" {
		r.Env = append(r.Env, "HOME="+w.Guard.Roots.Home)
	}
	for name, text := range w.Env {
		r.Env = append(r.Env, name+"="+text)
	}
	slices.Sort(r.Env)
	if r.Argv = a.shell().argv(file); r.Argv != nil {
		return r, true
	}
	quoteWords(file)
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, file); err != nil {
		return Rendering{}, false
	}
	r.Argv = []string{"/bin/bash", "--noprofile", "--norc", "-c", b.String()}
	return r, true
}

// argv are the arguments of a script that is one program and nothing else, or nil.
func (sh *shell) argv(file *syntax.File) (argv []string) {
	if len(file.Stmts) != 1 {
		return nil
	}
	s := file.Stmts[0]
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || len(s.Redirs)+len(c.Assigns) > 0 {
		return nil
	}
	for _, w := range c.Args {
		for _, f := range sh.fields(w) {
			if f.vague() || len(f.from) > 0 {
				return nil
			}
			argv = append(argv, f.Text)
		}
	}
	if len(argv) == 0 || argv[0] == "" || len(sh.a.script.Commands) > 0 {
		return nil
	}
	if builtinOf(argv[0]) != nil && argv[0] != "echo" && argv[0] != "printf" && argv[0] != "true" && argv[0] != "false" && argv[0] != "pwd" {
		return nil
	}
	return argv
}

// quoteWords puts each word that stands as it is into single quotes.
func quoteWords(file *syntax.File) {
	quote := func(w *syntax.Word) {
		if text, ok := static(w); ok {
			w.Parts = []syntax.WordPart{quoted(text)}
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			for _, w := range n.Args {
				quote(w)
			}
		case *syntax.WordIter:
			for _, w := range n.Items {
				quote(w)
			}
		case *syntax.Assign:
			if n.Name != nil && n.Value != nil {
				quote(n.Value)
			}
		case *syntax.Redirect:
			switch n.Op {
			case syntax.RdrIn, syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.WordHdoc, syntax.RdrAll, syntax.AppAll:
				quote(n.Word)
			}
		case *syntax.TestClause, *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.LetClause:
			return false
		}
		return true
	})
}

// quoted is a text as a shell reads it back.
func quoted(text string) syntax.WordPart {
	if strings.Contains(text, "'") {
		return &syntax.Lit{Value: "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"}
	}
	return &syntax.SglQuoted{Value: text}
}

// static is the text of a word in which nothing is expanded.
func static(w *syntax.Word) (text string, ok bool) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "\\*?[]{}~") {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, in := range p.Parts {
				l, ok := in.(*syntax.Lit)
				if !ok || p.Dollar || strings.Contains(l.Value, "\\") {
					return "", false
				}
				b.WriteString(l.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}
