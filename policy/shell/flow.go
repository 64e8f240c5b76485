package shell

import (
	"fmt"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

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
		if sh.plain {
			sh.a.unsure("sh takes (( as two subshells")
		}
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
		before := sh.in
		sh.in = &in
		defer func() {
			if sh.in == &in {
				sh.in = before
			}
		}()
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

// coprocess: bash takes a name only before a compound command. The parser takes the first
// word of "coproc x >&f" and "coproc x 2>&1 | y" as one, too.
func (sh *shell) coprocess(c *syntax.CoprocClause) {
	sub := sh.fork()
	sub.background = true
	first := c.Stmt
	for list, ok := first.Cmd.(*syntax.BinaryCmd); ok; list, ok = first.Cmd.(*syntax.BinaryCmd) {
		first = list.X
	}
	cmd, simple := first.Cmd.(*syntax.CallExpr)
	if c.Name != nil && assigns(c.Name) {
		sub.a.unsure("an assignment that the parser takes as a name")
	}
	if c.Name != nil && (simple || first.Cmd == nil) {
		words := sub.fields(c.Name)
		for i := 0; simple && i < len(cmd.Args); i++ {
			words = append(words, sub.fields(cmd.Args[i])...)
		}
		sub.call(call{words: words})
	}
	sub.statement(c.Stmt)
}
