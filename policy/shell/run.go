package shell

import (
	"strings"

	"fmt"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// script runs a text in all its readings.
func (sh *shell) script(text string) {
	if sh.depth > sh.a.limits.Depth || len(text) > sh.a.limits.Bytes || !sh.a.spend(1+len(text)/1024) {
		sh.a.script.OverBudget = true
		return
	}
	outermost := sh.depth == 0 && sh.outer == nil
	list := sh.a.readings(text)
	for i, r := range list {
		in := sh
		if i < len(list)-1 {
			in = sh.fork()
			in.out = nil
		}
		if outermost {
			in.outer = r
		}
		in.statements(r.file.Stmts)
	}
}

// leftovers runs what may still run when the text is over: traps, with the variables as
// they are then, and functions that nothing has called so far.
func (sh *shell) leftovers() {
	for _, t := range sh.a.traps {
		sh.nested("trap").code(t.Text)
	}
	for i := 0; i < len(sh.a.functions); i++ {
		if f := sh.a.functions[i]; !f.called {
			sub := sh.fork()
			sub.args, sub.open = nil, true
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
		sh.a.script.OverBudget = true
	}
	start, end := sh.start, sh.end
	if sh.outer != nil {
		last := s.End()
		if s.Semicolon.IsValid() {
			last = s.Semicolon
		}
		sh.start, sh.end = sh.outer.offset(int(s.Pos().Offset())), sh.outer.offset(int(last.Offset()))
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

// run is a statement with its redirections.
func (sh *shell) run(s *syntax.Stmt) {
	in, out := sh.in, sh.out
	used := sh.redirect(s.Redirs)
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		if stays := sh.simple(call, used); stays { // exec without a program
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
	sh.in, sh.out = in, out
}

// execRedirected is exec with redirections: they hold for all that follows. A shell that
// reads its code from its standard input goes on with the new one.
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

func (sh *shell) compound(c syntax.Command) {
	switch c := c.(type) {
	case nil:
	case *syntax.BinaryCmd:
		sh.binary(c)
	case *syntax.Subshell:
		sh.fork().statements(c.Stmts)
	case *syntax.Block:
		sh.statements(c.Stmts)
	case *syntax.IfClause:
		sh.ifs(c)
	case *syntax.WhileClause:
		sh.whiles(c)
	case *syntax.ForClause:
		sh.fors(c)
	case *syntax.CaseClause:
		sh.expansion(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				sh.expansion(p)
			}
			sh.branch(func(b *shell) { b.statements(item.Stmts) })
		}
	case *syntax.FuncDecl:
		sh.declareFunction(c)
	case *syntax.ArithmCmd:
		sh.arithmetic(c, false)
	case *syntax.LetClause:
		sh.a.unsure("let evaluates text as arithmetic")
		sh.arithmetic(c, false)
		sh.emit(Command{Binary: "let", Argv: []string{"let"}, Known: true, DynamicArgs: true})
	case *syntax.TestClause:
		sh.arithmetic(c, true)
		sh.out.write("", true)
	case *syntax.TimeClause:
		sh.statement(c.Stmt)
	case *syntax.CoprocClause:
		sh.coprocess(c)
	default:
		sh.a.unsure(fmt.Sprintf("a construct that is not followed: %T", c))
		sh.expansion(c)
	}
}

func (sh *shell) binary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		sh.pipeline(stages(c))
	case syntax.AndStmt:
		before := sh.dir.or
		sh.statement(c.X)
		if sh.out != nil && !surelyTrue(c.X) {
			sh.out.known = false
		}
		if succeeded(c.X) {
			after := sh.dir.or
			sh.dir.or = before
			sh.statement(c.Y)
			sh.dir.or = join(sh.dir.or, after)
			return
		}
		sh.statement(c.Y)
	default:
		before := sh.dir.or
		sh.statement(c.X)
		if leaves(c.Y) && succeeded(c.X) {
			sh.dir.or = before
		}
		if sh.out != nil {
			sh.out.known = false
		}
		sh.branch(func(b *shell) { b.statement(c.Y) })
	}
}

// stages are the parts of a pipeline, from left to right.
func stages(c *syntax.BinaryCmd) []*syntax.Stmt {
	list := []*syntax.Stmt{c.Y}
	for {
		left, ok := c.X.Cmd.(*syntax.BinaryCmd)
		if !ok || left.Op != syntax.Pipe && left.Op != syntax.PipeAll || c.X.Negated || len(c.X.Redirs) > 0 {
			list = append(list, c.X)
			slices.Reverse(list)
			return list
		}
		c = left
		list = append(list, c.Y)
	}
}

// pipeline runs each stage once, in a subshell that reads what the one before wrote.
func (sh *shell) pipeline(list []*syntax.Stmt) {
	in := sh.in
	for i, s := range list {
		sub := sh.fork()
		sub.in = in
		last := i == len(list)-1
		if !last {
			sub.out = &sink{known: true}
		}
		if sub.out != nil && i > 0 {
			sub.out.from = join(sub.out.from, in.From)
			sub.out.places = join(sub.out.places, in.places)
		}
		sub.statement(s)
		if !last {
			in = sub.out.stream("pipe")
		}
	}
}

// succeeded tells whether each command in it has succeeded if it as a whole has.
func succeeded(s *syntax.Stmt) bool {
	if s.Negated || s.Background {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return true
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && succeeded(c.X) && succeeded(c.Y)
	}
	return false
}

// surelyTrue tells whether a statement cannot fail.
func surelyTrue(s *syntax.Stmt) bool {
	switch firstWord(s) {
	case "echo", "printf", "true", ":":
		return !s.Negated && len(s.Redirs) == 0
	}
	return false
}

// leaves tells whether nothing runs after a statement.
func leaves(s *syntax.Stmt) bool {
	if b, ok := s.Cmd.(*syntax.Block); ok && len(b.Stmts) > 0 {
		return leaves(b.Stmts[len(b.Stmts)-1])
	}
	switch firstWord(s) {
	case "exit", "return":
		return !s.Background
	}
	return false
}

func firstWord(s *syntax.Stmt) string {
	if c, ok := s.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 {
		return c.Args[0].Lit()
	}
	return ""
}

func (sh *shell) ifs(c *syntax.IfClause) {
	for ; c != nil; c = c.Else {
		sh.statements(c.Cond)
		sh.branch(func(b *shell) { b.statements(c.Then) })
	}
}

func (sh *shell) whiles(c *syntax.WhileClause) {
	if sh.in.Kind != "" && sh.in.File != "/dev/null" {
		in := *sh.in // each round takes another line
		in.Known = false
		sh.in = &in
	}
	sh.loop(func(b *shell) {
		b.statements(c.Cond)
		b.statements(c.Do)
	})
}

// maxRounds is how often the body of loops is run for values that are known, over all
// loops around each other. Beyond it a value counts as unknown.
const maxRounds = 64

func (sh *shell) fors(c *syntax.ForClause) {
	if arithmetic, ok := c.Loop.(*syntax.CStyleLoop); ok {
		sh.arithmetic(arithmetic, false)
		sh.loop(func(b *shell) { b.statements(c.Do) })
		return
	}
	loop := c.Loop.(*syntax.WordIter)
	var list []word
	if loop.InPos.IsValid() {
		for _, w := range loop.Items {
			list = append(list, sh.fields(w)...)
		}
	} else {
		list = sh.args
	}
	once := !c.Select && len(list) > 0 && len(list)*sh.rounds <= maxRounds
	if !once {
		list = []word{anyOf(list)}
	}
	rounds := sh.rounds
	sh.rounds *= len(list)
	body := func(b *shell) {
		for _, w := range list {
			b.assigned(loop.Name.Value, w.value())
			b.statements(c.Do)
		}
	}
	if once && !slices.ContainsFunc(list, word.vague) {
		sh.branch(body)
	} else {
		sh.loop(body)
	}
	sh.rounds = rounds
}

// loop runs a body as often as its variables need: what it changed in the first round
// is unknown in those that follow.
func (sh *shell) loop(body func(*shell)) {
	if sh.branch(body) {
		sh.branch(body)
	}
}

// coprocess: bash takes the first word of "coproc x >&f" as the command, where the
// parser takes it as a name.
func (sh *shell) coprocess(c *syntax.CoprocClause) {
	sub := sh.fork()
	sub.background = true
	if c.Name != nil {
		if name, text, assigns := strings.Cut(c.Name.Lit(), "="); assigns {
			sub.assigned(strings.TrimSuffix(name, "+"), unknown(text))
		}
		if _, simple := c.Stmt.Cmd.(*syntax.CallExpr); simple || c.Stmt.Cmd == nil {
			sub.call(call{words: sub.fields(c.Name)})
		}
	}
	sub.statement(c.Stmt)
}
