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
		if isForkBomb(n.Value, d.Body) {
			sh.a.script.ForkBomb = true
			continue
		}
		f := &function{name: n.Value, body: d.Body}
		sh.a.functions = append(sh.a.functions, f)
		sh.define(n.Value, f)
	}
}

// isForkBomb reports whether a function starts itself more than once in the background.
func isForkBomb(name string, body *syntax.Stmt) bool {
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

// callFunction runs a function of the script. It returns false where a program may run as well: another shell
// sees only exported functions.
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
			before, open := s.args, s.argsUnknown
			s.args, s.argsUnknown = c.args(), false
			s.body(f)
			s.args, s.argsUnknown = before, open
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
		sh.a.exceed()
		return
	}
	running, locals := sh.running, sh.locals
	sh.running, sh.locals = appendCopy(running, f), map[string]bool{}
	sh.nest("function "+f.name, func() { sh.statement(f.body) })
	for name := range sh.locals { // it may have what it had before again
		v, _ := sh.get(name)
		v.word, v.transformed = v.asUnknown(), true
		sh.set(name, v)
	}
	sh.running, sh.locals = running, locals
}
