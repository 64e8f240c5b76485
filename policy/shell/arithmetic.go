package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxIndirections is how many variables are followed until one holds a number. Bash evaluates the text of
// variables in arithmetic again, and runs the substitutions in their subscripts, so anything but a number
// asks.
const maxIndirections = 8

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
		w, ok := x.(*syntax.Word)
		if !ok || len(w.Parts) != 1 {
			continue
		}
		if p, ok := w.Parts[0].(*syntax.ParamExp); ok && p.Param != nil { // a[i]
			sh.assignElement(p.Param.Value, unknownNumber().word)
		} else if isName(w.Lit()) {
			sh.setVariable(w.Lit(), unknownNumber())
		}
	}
}

func (sh *shell) operand(w *syntax.Word) {
	if len(w.Parts) > 0 {
		sh.checkWeakQuotes(w)
		sh.requireNumber(sh.text(w))
	}
}

// requireNumber records a text that arithmetic evaluates, unless it is a number.
func (sh *shell) requireNumber(w word) {
	for range maxIndirections {
		if w.isNumber() {
			return
		}
		if !isName(w.Text) || w.Dynamic {
			break
		}
		v, set := sh.get(w.Text)
		if !set && !sh.argsUnknown && v.Text == "" { // what the environment holds is trusted
			return
		}
		w = v.word
		if v.array {
			w = v.at(0, true).word
		}
	}
	if w.Text == "" && !w.Dynamic {
		return
	}
	sh.a.unsure("arithmetic evaluates a text that may not be a number: " + w.Text)
	if strings.ContainsAny(w.Text, "$`") {
		sh.evaluate(w.Text)
	}
}

// checkWeakQuotes records what bash may parse differently inside ${} and arithmetic: single quotes, which do
// not always quote there, and process substitutions.
func (sh *shell) checkWeakQuotes(w *syntax.Word) {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.SglQuoted:
			if strings.ContainsAny(p.Value, "}\"$`[\\") {
				sh.a.unsure("an expansion inside of single quotes that may not quote: " + p.Value)
				sh.evaluate(p.Value)
			}
		case *syntax.Lit:
			if strings.Contains(p.Value, "<(") || strings.Contains(p.Value, ">(") {
				sh.a.unsure("a process substitution inside of ${}")
			}
		}
	}
}

// evaluate runs the substitutions in a text that bash expands a second time.
func (sh *shell) evaluate(text string) {
	if sh.depth >= sh.a.limits.Depth || !sh.a.spend(1+len(text)/1024) {
		sh.a.exceed()
		return
	}
	parser := parsers.Get().(*syntax.Parser)
	w, err := parser.Document(strings.NewReader(text))
	if parsers.Put(parser); err != nil {
		sh.a.failParse(err)
		return
	}
	sub := sh.nested("$()")
	sub.out = nil
	sub.expansion(w)
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
			sh.runSubstitutions(n)
			return false
		}
		return true
	})
	sh.out.write("", true)
}
