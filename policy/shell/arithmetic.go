package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// arithmetic follows an expression and what it sets.
func (sh *shell) arithmetic(n syntax.Node) {
	if n == nil {
		return
	}
	var sets []syntax.ArithmExpr
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			sh.operand(n)
			return false
		case *syntax.BinaryArithm:
			if op := n.Op.String(); strings.HasSuffix(op, "=") &&
				!slices.Contains([]string{"==", "!=", "<=", ">="}, op) {
				sets = append(sets, n.X)
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				sets = append(sets, n.X)
			}
		}
		return true
	})
	for _, x := range sets {
		if w, ok := x.(*syntax.Word); ok && isName(w.Lit()) {
			sh.setVariable(w.Lit(), unknownNumber())
		} else {
			sh.a.unfollowed("arithmetic sets an element of an array")
		}
	}
}

func (sh *shell) operand(w *syntax.Word) {
	if len(w.Parts) > 0 {
		sh.checkWeakQuotes(w)
		sh.requireNumber(sh.text(w))
	}
}

// requireNumber records a text that arithmetic evaluates, unless it is a number or a variable that holds
// one. Bash evaluates the text of variables again, and runs the substitutions in their subscripts.
func (sh *shell) requireNumber(w word) {
	if isName(w.Text) && !w.Dynamic {
		v, set := sh.get(w.Text)
		if !set && !sh.argsUnknown && v.Text == "" { // what the environment holds is trusted
			return
		}
		if w = v.word; v.array {
			w = v.at(0, true).word
		}
	}
	switch {
	case w.isNumber(), w.Text == "" && !w.Dynamic:
	case strings.ContainsAny(w.Text, "$`"):
		sh.a.unfollowed("arithmetic evaluates a text: " + w.Text)
	default:
		sh.a.unsure("arithmetic evaluates a text that may not be a number: " + w.Text)
	}
}

// checkWeakQuotes records what bash may parse differently inside ${} and arithmetic: single quotes, which do
// not always quote there, and process substitutions.
func (sh *shell) checkWeakQuotes(w *syntax.Word) {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.SglQuoted:
			if strings.ContainsAny(p.Value, "}\"$`[\\") {
				sh.a.unfollowed("an expansion inside of single quotes that may not quote: " + p.Value)
			}
		case *syntax.Lit:
			if strings.Contains(p.Value, "<(") || strings.Contains(p.Value, ">(") {
				sh.a.unsure("a process substitution inside of ${}")
			}
		}
	}
}

// testClause follows [[ ]]; some of its operators compare numbers.
func (sh *shell) testClause(c *syntax.TestClause) {
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				for _, x := range []syntax.TestExpr{n.X, n.Y} {
					if w, ok := x.(*syntax.Word); ok {
						sh.requireNumber(sh.text(w))
					}
				}
			}
		case *syntax.UnaryTest:
			if w, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) {
				sh.checkName(sh.text(w), "[[ -v")
			}
		case *syntax.Word:
			sh.expansion(n)
			return false
		}
		return true
	})
	sh.out.write("", true)
}
