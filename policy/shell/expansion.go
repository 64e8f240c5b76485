package shell

import (
	"errors"
	"io"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// expansion is the environment of one word while it is expanded. It notes what the
// result depends on.
type expansion struct {
	sh      *shell
	outputs map[*syntax.CmdSubst]*sink
	pipes   map[*syntax.ProcSubst]string
	unknown bool
	glob    bool
	from    []string
}

// try expands a word with what is known. What goes wrong makes the word unknown.
func (x *expansion) try(w *syntax.Word, run func(*expand.Config) error) {
	defer func() {
		if recover() != nil { // the expansion of odd words panics
			x.unknown = true
		}
	}()
	x.unknown, x.glob = false, false
	err := errors.New("not expanded")
	if !x.beyond(w) {
		err = run(&expand.Config{Env: x, CmdSubst: x.output, ProcSubst: func(p *syntax.ProcSubst) (string, error) { return x.pipes[p], nil }})
	}
	x.unknown = x.unknown || err != nil
}

// beyond tells whether a word is not expanded: a replacement could make its text very
// long, or backslashes inside of ${x:-word} would be left in.
func (x *expansion) beyond(w *syntax.Word) bool {
	replacements := 0
	odd := false
	long := w.End().Offset()-w.Pos().Offset() > 1024
	syntax.Walk(w, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok {
			if p.Repl != nil {
				replacements++
			}
			odd = odd || p.Exp != nil && p.Exp.Word != nil && slices.ContainsFunc(p.Exp.Word.Parts, escapes)
			if p.Param != nil {
				v, _ := x.sh.get(p.Param.Value)
				long = long || len(v.Str)+len(v.List) > 1024
			}
		}
		return true
	})
	return odd || replacements > 1 || replacements > 0 && long
}

func escapes(p syntax.WordPart) bool {
	l, ok := p.(*syntax.Lit)
	return ok && strings.Contains(l.Value, "\\")
}

func (x *expansion) output(w io.Writer, c *syntax.CmdSubst) error {
	out := x.outputs[c]
	if out == nil {
		x.unknown = true
		return nil
	}
	x.unknown = x.unknown || !out.known || strings.Contains(x.sh.a.backquotes[c], "\\`")
	x.from = join(x.from, out.from)
	_, err := io.WriteString(w, strings.TrimRight(out.text.String(), "\n"))
	return err
}

// Get is a variable. One that the script has not set can hold anything.
func (x *expansion) Get(name string) expand.Variable {
	sh := x.sh
	if user, ok := strings.CutPrefix(name, "HOME "); ok {
		x.unknown = x.unknown || user != "root"
		if user == "root" {
			return known("/root").Variable
		}
		return known("/home/" + user).Variable
	}
	if name == "PWD" && sh.dir.path != "" {
		x.unknown = x.unknown || !sh.dir.known || len(sh.dir.or) > 0
		return known(sh.dir.path).Variable
	}
	v, ok := sh.get(name)
	if !ok {
		if _, is := sh.parameter(name); !is {
			x.unknown = true
		}
		return expand.Variable{}
	}
	size := len(v.Str)
	for _, s := range v.List {
		size += len(s)
	}
	if sh.a.bytes -= size; sh.a.bytes < 0 {
		sh.a.script.OverBudget = true
		return expand.Variable{}
	}
	x.unknown = x.unknown || v.unknown
	x.glob = x.glob || v.glob
	x.from = join(x.from, v.from)
	return v.Variable
}

// Each is for listing names, as in ${!x*}, which is only known at run time.
func (x *expansion) Each(func(string, expand.Variable) bool) { x.unknown = true }

// Set is called by ${x:=text} and in arithmetic.
func (x *expansion) Set(name string, v expand.Variable) error {
	x.sh.assigned(name, value{Variable: v, unknown: x.unknown, from: x.from})
	return nil
}
