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
		sh.only(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				sh.only(p)
			}
			sh.branch(func(b *shell) { b.statements(item.Stmts) })
		}
	case *syntax.FuncDecl:
		sh.declareFunction(c)
	case *syntax.ArithmCmd:
		if sh.plain {
			sh.a.unsure("sh takes (( as two subshells")
		}
		sh.arithmetic(c)
	case *syntax.LetClause:
		sh.arithmetic(c)
		sh.emit(Command{Binary: "let", Argv: []string{"let"}, Known: true, DynamicArgs: true})
	case *syntax.TestClause:
		sh.compare(c)
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
		sh.ands(c)
	default:
		before := sh.dir.or
		sh.condition(c.X)
		if y, ok := c.Y.Cmd.(*syntax.CallExpr); ok && len(y.Args) > 0 && y.Args[0].Lit() == "exit" &&
			succeeded(c.X) {
			sh.dir.or = before
		}
		sh.branch(func(b *shell) { b.statement(c.Y) })
	}
}

// ands is a list joined by &&. What stands behind the first may not run; the folder that
// it goes to is then one more that the shell may be in.
func (sh *shell) ands(c *syntax.BinaryCmd) {
	list := []*syntax.Stmt{c.Y}
	first := c.X
	for b, ok := first.Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.AndStmt && !first.Negated &&
		len(first.Redirs) == 0; b, ok = first.Cmd.(*syntax.BinaryCmd) {
		list = append(list, b.Y)
		first = b.X
	}
	slices.Reverse(list)
	before := sh.dir.or
	sh.condition(first)
	if sh.out != nil {
		sh.out.known = false
	}
	b := sh.fork()
	all := []string{sh.dir.path} // where it may be when the list is over
	for i, s := range list {
		all = join(all, b.dir.or)
		if succeeded(first) {
			b.dir.or = before
		}
		if first = s; i < len(list)-1 {
			b.condition(s)
		} else {
			b.statement(s)
		}
	}
	b.dir.or = join(b.dir.or, slices.DeleteFunc(all, func(p string) bool { return p == b.dir.path }))
	sh.dir = b.dir
	sh.merge(b)
}

// condition runs statements whose failure does not end the shell.
func (sh *shell) condition(list ...*syntax.Stmt) {
	sh.tested++
	sh.statements(list)
	sh.tested--
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

func (sh *shell) ifs(c *syntax.IfClause) {
	for ; c != nil; c = c.Else {
		before := sh.dir.or
		sh.condition(c.Cond...)
		sh.branch(func(b *shell) {
			if n := len(c.Cond); n == 1 && succeeded(c.Cond[0]) {
				b.dir.or = before
			}
			b.statements(c.Then)
		})
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
		b.condition(c.Cond...)
		b.statements(c.Do)
	})
}

// maxRounds is how often the body of loops is run for values that are known, over all
// loops around each other. Beyond it a value counts as unknown.
const maxRounds = 64

func (sh *shell) fors(c *syntax.ForClause) {
	if arithmetic, ok := c.Loop.(*syntax.CStyleLoop); ok {
		sh.arithmetic(arithmetic)
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
			b.assigned(loop.Name.Value, value{word: w, set: true})
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

// coprocess: parser and bash differ about what is the name of one.
func (sh *shell) coprocess(c *syntax.CoprocClause) {
	sub := sh.fork()
	sub.background = true
	if c.Name != nil {
		sh.a.unsure("a coprocess with a name, or what looks like one")
		sub.only(c.Name)
	}
	sub.statement(c.Stmt)
}
