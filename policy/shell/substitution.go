package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// expansion runs all substitutions inside a node, and follows what else is evaluated.
func (sh *shell) expansion(n syntax.Node) *expansion {
	x := &expansion{sh: sh}
	if w, ok := n.(*syntax.Word); ok && w == nil {
		return x
	}
	syntax.Walk(n, x.visit)
	return x
}

func (x *expansion) visit(n syntax.Node) bool {
	sh := x.sh
	switch n := n.(type) {
	case *syntax.CmdSubst:
		if x.outputs == nil {
			x.outputs = map[*syntax.CmdSubst]*sink{}
		}
		x.outputs[n] = sh.substitute(n)
		return false
	case *syntax.ProcSubst:
		if x.pipes == nil {
			x.pipes = map[*syntax.ProcSubst]string{}
		}
		x.pipes[n] = sh.processSubstitute(n)
		return false
	case *syntax.ArithmExp:
		sh.arithmetic(n.X)
		return false
	case *syntax.ParamExp:
		x.visitParameter(n)
		return false
	}
	return true
}

func (x *expansion) visitParameter(p *syntax.ParamExp) {
	sh := x.sh
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	if p.Index != nil {
		sh.subscript(p.Index)
	} else if v, _ := sh.get(name); p.Excl && p.Names == 0 {
		sh.checkName(v.word, "${!x}")
	}
	if s := p.Slice; s != nil {
		sh.arithmetic(s.Offset)
		sh.arithmetic(s.Length)
	}
	for _, w := range innerWords(p) {
		x.ambiguous = x.ambiguous || strings.Contains(literalText(w.Parts), "{")
		syntax.Walk(w, x.visit)
		sh.checkWeakQuotes(w)
	}
	if p.Exp != nil && (p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull) {
		sh.assignPerhaps(p)
	}
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && strings.Trim(lit(p.Exp.Word), "QaAKkUuLE") != "" {
		sh.a.unsure("${x@" + lit(p.Exp.Word) + "} evaluates the value")
	}
}

// assignPerhaps is ${x:=text}, which sets an empty variable.
func (sh *shell) assignPerhaps(p *syntax.ParamExp) {
	name, guess := p.Param.Value, lit(p.Exp.Word)
	switch v, _ := sh.get(name); {
	case v.array || p.Index != nil:
		sh.a.unfollowed("${x:=y} of an array")
	case v.Dynamic || v.Text == "":
		sh.setVariable(name, v.orElse(unknown(guess)))
	}
}

// innerWords returns the words inside ${}.
func innerWords(p *syntax.ParamExp) (list []*syntax.Word) {
	if p.Exp != nil {
		list = append(list, p.Exp.Word)
	}
	if p.Repl != nil {
		list = append(list, p.Repl.Orig, p.Repl.With)
	}
	return slices.DeleteFunc(list, func(w *syntax.Word) bool { return w == nil })
}

// literalText returns the literal text in parts of a word, quoted or not.
func literalText(parts []syntax.WordPart) (text string) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			text += p.Value
		case *syntax.DblQuoted:
			text += literalText(p.Parts)
		}
	}
	return text
}

// subscript follows the index of an array, which is arithmetic.
func (sh *shell) subscript(index syntax.ArithmExpr) {
	if w, ok := index.(*syntax.Word); !ok || w.Lit() != "@" && w.Lit() != "*" {
		sh.arithmetic(index)
	}
}

// substitute runs $(…), to which bash does not hand set -e.
func (sh *shell) substitute(c *syntax.CmdSubst) *sink {
	return sh.collect(func(sub *shell) {
		sub.errexit = false
		sub.runInner("$()", c.Stmts)
	})
}

// runInner runs the statements of a substitution.
func (sh *shell) runInner(via string, list []*syntax.Stmt) {
	if sh.depth >= sh.a.limits.Depth {
		sh.a.exceed()
		return
	}
	sh.via = via
	sh.depth++
	sh.statements(list)
}

// processSubstitute runs <(…) or >(…) and returns the name of its pipe.
func (sh *shell) processSubstitute(p *syntax.ProcSubst) string {
	name := fmt.Sprintf("/dev/fd/%d", 63-sh.a.pipes)
	sh.a.pipes++
	if len(p.Stmts) == 0 {
		sh.a.unsure("an empty process substitution, of which nothing may be left")
	}
	if p.Op == syntax.CmdIn {
		sh.a.files[name] = sh.collect(func(sub *shell) { sub.runInner("<()", p.Stmts) })
		return name
	}
	sub := sh.fork()
	sub.in = &stream{Stdin: Stdin{Kind: "pipe", From: []string{"?"}}}
	sub.runInner("<()", p.Stmts)
	sh.a.files[name] = &sink{}
	return name
}
