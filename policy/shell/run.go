package shell

import "mvdan.cc/sh/v3/syntax"

// script runs a text.
func (sh *shell) script(text string) {
	if sh.depth > sh.a.limits.Depth || len(text) > sh.a.limits.Bytes || !sh.a.spend(1+len(text)/1024) {
		sh.a.exceed()
		return
	}
	outermost := sh.depth == 0 && sh.end == 0
	r := sh.a.reading(text)
	if r == nil {
		return
	}
	if sh.outermost = outermost && len(r.text) == len(text); outermost && !sh.outermost {
		sh.start, sh.end = 0, len(text)
	}
	sh.statements(r.file.Stmts)
}

// leftovers runs what may still run at the end: traps, with the variables as they are then, and functions
// that were never called.
func (sh *shell) leftovers() {
	for _, t := range sh.a.traps {
		sh.nested("trap").code(t.Text)
	}
	for i := 0; i < len(sh.a.functions); i++ {
		if f := sh.a.functions[i]; !f.called {
			sub := sh.fork()
			sub.args, sub.argsUnknown = nil, true
			sub.body(f)
		}
	}
}

func (sh *shell) statements(list []*syntax.Stmt) {
	for _, s := range list {
		sh.statement(s)
	}
}

func (sh *shell) statement(s *syntax.Stmt) {
	if s == nil || !sh.a.spend(1) {
		return
	}
	if sh.nesting++; sh.nesting > maxNesting {
		sh.a.exceed()
	}
	start, end := sh.start, sh.end
	if sh.outermost {
		last := s.End()
		if s.Semicolon.IsValid() {
			last = s.Semicolon
		}
		sh.start, sh.end = int(s.Pos().Offset()), int(last.Offset())
	}
	if s.Background || s.Coprocess {
		sub := sh.fork()
		sub.background, sub.in = true, &stream{}
		sub.run(s)
	} else {
		sh.run(s)
	}
	sh.start, sh.end = start, end
	sh.nesting--
}

// run runs a statement with its redirections.
func (sh *shell) run(s *syntax.Stmt) {
	if s.Negated {
		sh.conditions++
		defer func() { sh.conditions-- }()
	}
	in, out := sh.in, sh.out
	used := sh.redirect(s.Redirs)
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		if stays := sh.simpleCommand(call, used); stays { // exec without a program
			sh.execRedirected(in)
			return
		}
	} else if d, ok := s.Cmd.(*syntax.DeclClause); ok {
		sh.declare(d, used)
	} else {
		if !used.none() {
			sh.emit(Command{Reads: used.reads, Writes: used.writes, Stdin: sh.in.Stdin})
		}
		if s.Cmd == nil && sh.in != in {
			sh.out.write(sh.in.Text, sh.in.Known, sh.in.From...) // $(< file)
		}
		sh.compound(s.Cmd)
	}
	if len(s.Redirs) > 0 { // an exec inside may have changed what holds outside, too
		sh.in, sh.out = in, out
	}
}

// execRedirected follows exec with redirections only, which stay in force. A shell that reads its code from
// its standard input continues with the new one.
func (sh *shell) execRedirected(before *stream) {
	if !before.code || sh.in == before {
		return
	}
	sh.a.unsure("exec replaces the input from which the shell reads its code")
	if sh.in.Known {
		sub := sh.nested("exec")
		sub.in = &stream{code: true}
		sub.code(sh.in.Text)
	}
}

// code runs a text as this shell would.
func (sh *shell) code(text string) {
	sh.outermost = false
	sh.script(text)
}
