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
		sh.ifClause(c)
	case *syntax.WhileClause:
		sh.whileClause(c)
	case *syntax.ForClause:
		sh.forClause(c)
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
		if sh.posix {
			sh.a.unsure("sh takes (( as two subshells")
		}
		sh.arithmetic(c)
	case *syntax.LetClause:
		sh.arithmetic(c)
		sh.emit(Command{Binary: "let", Argv: []string{"let"}, Known: true, DynamicArgs: true})
	case *syntax.TestClause:
		sh.testClause(c)
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
		sh.andList(c)
	default:
		before := sh.dir.alternatives
		sh.condition(c.X)
		if y, ok := c.Y.Cmd.(*syntax.CallExpr); ok && len(y.Args) > 0 && y.Args[0].Lit() == "exit" &&
			succeeded(c.X) {
			sh.dir.alternatives = before
		}
		sh.branch(func(b *shell) { b.statement(c.Y) })
	}
}

// andList runs commands joined by &&. All but the first may not run; the folder that they change to is one
// more that the shell may be in.
func (sh *shell) andList(c *syntax.BinaryCmd) {
	list := []*syntax.Stmt{c.Y}
	first := c.X
	for b, ok := first.Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.AndStmt && !first.Negated &&
		len(first.Redirs) == 0; b, ok = first.Cmd.(*syntax.BinaryCmd) {
		list = append(list, b.Y)
		first = b.X
	}
	slices.Reverse(list)
	before := sh.dir.alternatives
	sh.condition(first)
	if sh.out != nil {
		sh.out.known = false
	}
	b := sh.fork()
	all := []string{sh.dir.path} // where it may be when the list is over
	for i, s := range list {
		all = union(all, b.dir.alternatives)
		if succeeded(first) {
			b.dir.alternatives = before
		}
		if first = s; i < len(list)-1 {
			b.condition(s)
		} else {
			b.statement(s)
		}
	}
	b.dir.alternatives = union(b.dir.alternatives,
		slices.DeleteFunc(all, func(p string) bool { return p == b.dir.path }))
	sh.dir = b.dir
	sh.merge(b)
}

// condition runs statements whose failure does not end the shell.
func (sh *shell) condition(list ...*syntax.Stmt) {
	sh.conditions++
	sh.statements(list)
	sh.conditions--
}

// stages returns the parts of a pipeline, from left to right.
func stages(c *syntax.BinaryCmd) []*syntax.Stmt {
	left, ok := c.X.Cmd.(*syntax.BinaryCmd)
	if !ok || left.Op != syntax.Pipe && left.Op != syntax.PipeAll || c.X.Negated || len(c.X.Redirs) > 0 {
		return []*syntax.Stmt{c.X, c.Y}
	}
	return append(stages(left), c.Y)
}

// pipeline runs each stage once, in a subshell that reads the output of the one before.
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
			sub.out.from = union(sub.out.from, in.From)
		}
		sub.statement(s)
		if !last {
			in = sub.out.stream("pipe")
		}
	}
}

// succeeded reports whether all commands of a statement have succeeded if the statement has.
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

func (sh *shell) ifClause(c *syntax.IfClause) {
	for ; c != nil; c = c.Else {
		before := sh.dir.alternatives
		sh.condition(c.Cond...)
		sh.branch(func(b *shell) {
			if n := len(c.Cond); n == 1 && succeeded(c.Cond[0]) {
				b.dir.alternatives = before
			}
			b.statements(c.Then)
		})
	}
}

func (sh *shell) whileClause(c *syntax.WhileClause) {
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

// maxRounds is how often the bodies of nested loops run for known values. Beyond it a value counts as
// unknown.
const maxRounds = 64

func (sh *shell) forClause(c *syntax.ForClause) {
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
			b.setVariable(loop.Name.Value, value{word: w, set: true})
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

// loop runs a body once, and again if variables changed in the first round.
func (sh *shell) loop(body func(*shell)) {
	if sh.branch(body) {
		sh.branch(body)
	}
}

// coprocess runs coproc. Parser and bash disagree about its name.
func (sh *shell) coprocess(c *syntax.CoprocClause) {
	sub := sh.fork()
	sub.background = true
	if c.Name != nil {
		sh.a.unsure("a coprocess with a name, or what looks like one")
		sub.expansion(c.Name)
	}
	sub.statement(c.Stmt)
}
