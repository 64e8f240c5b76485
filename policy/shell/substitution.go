package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
)

// subscript finds a subscript with code in it, which arithmetic runs wherever the text
// ends up.
var subscript = lazyregexp.New("[A-Za-z_][A-Za-z0-9_]*\\[[^\\]]*(\\$\\(|`)")

// expansion runs all substitutions inside of a node, and notes what is evaluated in
// other ways.
func (sh *shell) expansion(n syntax.Node) *expansion {
	x := &expansion{sh: sh}
	if w, ok := n.(*syntax.Word); ok && w == nil {
		return x
	}
	syntax.Walk(n, func(n syntax.Node) bool {
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
		case *syntax.ParamExp:
			if hidden(n) {
				sh.a.unsure("a process substitution inside of ${}")
			}
			if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && !slices.Contains([]string{"Q", "a", "A", "K", "k", "U", "u", "L"}, n.Exp.Word.Lit()) {
				sh.a.unsure("${x@" + n.Exp.Word.Lit() + "} evaluates the value")
			}
		case *syntax.ArithmExp:
			sh.quotedInArithmetic(n)
		case *syntax.SglQuoted:
			if subscript().MatchString(n.Value) {
				sh.a.unsure("a subscript with a substitution, which arithmetic would run")
				sh.evaluate(n.Value)
			}
		}
		return true
	})
	return x
}

// hidden tells whether the words inside of ${} hold a process substitution, which the
// parser takes as text.
func hidden(p *syntax.ParamExp) bool {
	var words []*syntax.Word
	if p.Exp != nil {
		words = append(words, p.Exp.Word)
	}
	if p.Repl != nil {
		words = append(words, p.Repl.Orig, p.Repl.With)
	}
	return slices.ContainsFunc(words, func(w *syntax.Word) bool {
		return w != nil && slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
			l, ok := p.(*syntax.Lit)
			return ok && (strings.Contains(l.Value, "<(") || strings.Contains(l.Value, ">("))
		})
	})
}

// substitute runs $(…).
func (sh *shell) substitute(c *syntax.CmdSubst) *sink {
	if sh.depth >= sh.a.limits.Depth {
		sh.a.script.OverBudget = true
		return nil
	}
	run := func(sub *shell) {
		sub.via = "$()"
		sub.depth++
		sub.statements(c.Stmts)
	}
	source, ok := sh.a.backquotes[c]
	if !ok {
		return sh.collect(run)
	}
	// the text as bash parses it again; inside of double quotes \" loses its backslash too
	sh.nested("$()").code(backquoted.Replace(source))
	if strings.Contains(source, `\"`) {
		sh.nested("$()").code(backquotedInQuotes.Replace(source))
	}
	if strings.Contains(source, "\\`") {
		return sh.collect(func(sub *shell) { sub.via, sub.depth = "$()", sub.depth+1; sub.code(backquoted.Replace(source)) })
	}
	return sh.collect(run)
}

var (
	backquoted         = strings.NewReplacer(`\$`, `$`, "\\`", "`", `\\`, `\`)
	backquotedInQuotes = strings.NewReplacer(`\$`, `$`, "\\`", "`", `\\`, `\`, `\"`, `"`)
)

// processSubstitute runs <(…) or >(…) and gives the name of its pipe.
func (sh *shell) processSubstitute(p *syntax.ProcSubst) string {
	name := fmt.Sprintf("/dev/fd/%d", 63-sh.a.pipes)
	sh.a.pipes++
	if sh.depth >= sh.a.limits.Depth {
		sh.a.script.OverBudget = true
		return name
	}
	if len(p.Stmts) == 0 {
		sh.a.unsure("an empty process substitution, of which nothing may be left")
	}
	run := func(sub *shell) {
		sub.via = "<()"
		sub.depth++
		sub.statements(p.Stmts)
	}
	if p.Op != syntax.CmdIn {
		sub := sh.fork()
		sub.in = &stream{Stdin: Stdin{Kind: "pipe", From: []string{"?"}}}
		run(sub)
		sh.a.files[name] = &sink{}
		return name
	}
	sh.a.files[name] = sh.collect(run)
	return name
}

// arithmetic runs the substitutions in (( )), [[ ]], let and for (( )), and forgets
// what they assign.
func (sh *shell) arithmetic(n syntax.Node, test bool) {
	sh.expansion(n)
	if !test {
		sh.quotedInArithmetic(n)
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		name := ""
		switch n := n.(type) {
		case *syntax.Word:
			if !test {
				sh.counted(n)
			}
		case *syntax.Lit:
			name = n.Value
		case *syntax.ParamExp:
			if n.Param != nil {
				name = n.Param.Value
			}
		case *syntax.BinaryArithm:
			if strings.HasSuffix(n.Op.String(), "=") {
				sh.forget(n.X)
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				sh.forget(n.X)
			}
		}
		if v, ok := sh.get(name); ok && strings.Contains(v.Str, "[") && strings.ContainsAny(v.Str, "$`") {
			sh.a.unsure("arithmetic evaluates a variable that holds a subscript with a substitution")
			sh.evaluate(v.Str)
		}
		return true
	})
}

// subscript is the index of an array, which is arithmetic.
func (sh *shell) subscript(x syntax.ArithmExpr) {
	sh.expansion(x)
	if w, ok := x.(*syntax.Word); ok {
		sh.counted(w)
	}
}

// counted is a word in arithmetic. What its substitutions print is evaluated, too.
func (sh *shell) counted(w *syntax.Word) {
	if !slices.ContainsFunc(w.Parts, printed) {
		return
	}
	if text := sh.text(w).Text; strings.Contains(text, "[") && strings.ContainsAny(text, "$`") {
		sh.a.unsure("arithmetic evaluates what a command prints")
		sh.evaluate(text)
	}
}

// printed tells whether a part of a word is what a command prints.
func printed(p syntax.WordPart) bool {
	switch p := p.(type) {
	case *syntax.CmdSubst:
		return true
	case *syntax.DblQuoted:
		return slices.ContainsFunc(p.Parts, printed)
	}
	return false
}

// evaluate runs the substitutions in a text that bash expands a second time.
func (sh *shell) evaluate(text string) {
	if sh.depth >= sh.a.limits.Depth || !sh.a.spend(1+len(text)/1024) {
		sh.a.script.OverBudget = true
		return
	}
	w, err := sh.a.parser.Document(strings.NewReader(text))
	if err != nil {
		sh.a.unparsed(err)
		return
	}
	sub := sh.nested("$()")
	sub.out = nil
	sub.expansion(w)
}

func (sh *shell) forget(x syntax.ArithmExpr) {
	if w, ok := x.(*syntax.Word); ok && w.Lit() != "" {
		name, _, _ := strings.Cut(w.Lit(), "[")
		sh.assigned(name, unknown("0"))
	}
}

// quotedInArithmetic: single quotes do not quote there.
func (sh *shell) quotedInArithmetic(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if q, ok := n.(*syntax.SglQuoted); ok && strings.ContainsAny(q.Value, "$`") {
			sh.a.unsure("an expansion inside of single quotes in arithmetic")
		}
		return true
	})
}

// name notes the name of a variable whose subscript bash would evaluate.
func (sh *shell) name(name string) {
	if strings.ContainsAny(name, "[$`(") {
		sh.a.unsure("the name of a variable holds a subscript, which is evaluated")
		sh.evaluate(name)
	}
}
