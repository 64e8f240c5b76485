package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

func (sh *shell) declareFunction(d *syntax.FuncDecl) {
	names := d.Names
	if d.Name != nil {
		names = append(names, d.Name)
	}
	for _, n := range names {
		if bomb(n.Value, d.Body) {
			sh.a.script.ForkBomb = true
			continue
		}
		f := &function{name: n.Value, body: d.Body}
		sh.a.functions = append(sh.a.functions, f)
		sh.define(n.Value, f)
	}
}

// bomb tells whether a function starts itself more than once, not waiting for it.
func bomb(name string, body *syntax.Stmt) bool {
	calls, background := 0, false
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 && n.Args[0].Lit() == name {
				calls++
			}
		case *syntax.Stmt:
			background = background || n.Background
		}
		return true
	})
	return calls >= 2 && background
}

// callFunction runs a function of the script, if there is one of that name. It is false
// where a program may run as well: a function of another shell need not be exported.
func (sh *shell) callFunction(cmd Command, c call) bool {
	name := c.words[0].Text
	list, sure := sh.function(name)
	list = slices.DeleteFunc(slices.Clone(list),
		func(f *function) bool { return slices.Contains(sh.running, f) })
	if len(list) == 0 {
		return false
	}
	if sure {
		cmd.tag("function")
		cmd.Known = true
		sh.emit(cmd)
	}
	for _, f := range list {
		run := func(s *shell) {
			before, open := s.args, s.open
			s.args, s.open = c.args(), false
			s.body(f)
			s.args, s.open = before, open
		}
		if sure && len(list) == 1 {
			run(sh)
		} else {
			sh.branch(run)
		}
	}
	return sure
}

func (sh *shell) body(f *function) {
	f.called = true
	if sh.depth >= sh.a.limits.Depth {
		sh.a.script.OverBudget = true
		return
	}
	via, marks, running := sh.via, sh.marks, sh.running
	sh.via, sh.marks, sh.running = "function "+f.name, false, appended(running, f)
	sh.depth++
	before := sh.locals
	sh.locals = map[string]bool{}
	sh.statement(f.body)
	for name := range sh.locals { // it may have what it had before again
		v, _ := sh.get(name)
		v.word, v.odd = v.blurred(), true
		sh.set(name, v)
	}
	sh.locals = before
	sh.depth--
	sh.via, sh.marks, sh.running = via, marks, running
}
