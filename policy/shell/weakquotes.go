package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// weakQuotes is the text without those single quotes that bash does not honour: in
// "${x:-'…'}" and in arithmetic, where what they hold is expanded. It has the same
// length, and is empty where nothing changes.
func weakQuotes(file *syntax.File, text string) string {
	if !strings.Contains(text, "'") {
		return ""
	}
	var stack []syntax.Node
	var b []byte
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		q, ok := n.(*syntax.SglQuoted)
		if !ok || q.Value == "" || !weak(stack, q.Pos()) {
			return true
		}
		left, right := int(q.Left.Offset()), int(q.Right.Offset())
		if left >= right || right >= len(text) {
			return true
		}
		if b == nil {
			b = []byte(text)
		}
		b[left], b[right] = '_', '_'
		if q.Dollar {
			b[left+1] = '_'
		}
		return true
	})
	return string(b)
}

// weak tells whether quotes at a position do not quote, by what stands around it.
func weak(stack []syntax.Node, at syntax.Pos) bool {
	inside := func(n syntax.Node) bool {
		return at.Offset() >= n.Pos().Offset() && at.Offset() < n.End().Offset()
	}
	parameter := false
	for i := len(stack) - 2; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			return true
		case *syntax.Assign:
			if n.Index != nil && inside(n.Index) {
				return true
			}
		case *syntax.ParamExp:
			if n.Index != nil && inside(n.Index) {
				return true
			}
			if s := n.Slice; s != nil && (s.Offset != nil && inside(s.Offset) || s.Length != nil && inside(s.Length)) {
				return true
			}
			parameter = parameter || n.Exp != nil
		case *syntax.DblQuoted:
			if parameter {
				return true
			}
		case *syntax.Redirect:
			if parameter && n.Hdoc != nil && inside(n.Hdoc) {
				return true
			}
		}
	}
	return false
}
