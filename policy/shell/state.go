package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// shell is one shell or subshell at a point of its run. A subshell is a copy with a
// scope of its own.
type shell struct {
	a     *analysis
	scope *scope
	dir   place
	in    *stream // what commands read
	out   *sink   // where commands write; nil: it is not kept

	marks      bool // statements stand in the outermost text as it was given
	start, end int  // of what runs now, in that text

	via        string
	depth      int
	nesting    int    // statements around this one
	rounds     int    // of all loops around this one
	args       []word // $1, $2 …
	open       bool   // how many is unknown
	plain      bool   // it may be a shell that knows less than bash: sh
	wrappers   []string
	env        []string
	background bool
	uncertain  bool // in a branch or a loop: it may not run
	running    []*function
	errexit    bool            // set -e
	tested     int             // conditions around this place, in which set -e does not count
	locals     map[string]bool // of the function that runs
}

// place is the folder that a shell is in.
type place struct {
	path  string
	known bool
	or    []string // where it is if a cd has failed that nothing checks
	like  string   // if it is not known: a pattern that it fits; empty: nothing is known
}

// scope holds what was set since a subshell or a branch began.
type scope struct {
	up        *scope
	fresh     bool // of a new shell, which sees only what is exported
	vars      map[string]value
	functions map[string][]*function // several where branches defined it
}

type function struct {
	name   string
	body   *syntax.Stmt
	called bool
}

// shell is the one that runs the outermost text.
func (a *analysis) shell() *shell {
	cwd := a.guard.Roots.Cwd
	return &shell{a: a, scope: &scope{}, dir: place{path: cwd, known: cwd != ""}, in: &stream{}, rounds: 1}
}

// fork is a subshell: it sees all that is set here, and changes none of it.
func (sh *shell) fork() *shell {
	sub := *sh
	sub.scope = &scope{up: sh.scope}
	return &sub
}

// nested is a shell for text inside of this one: it sees the variables.
func (sh *shell) nested(via string) *shell {
	sub := sh.fork()
	sub.via, sub.marks = via, false
	sub.depth++
	return sub
}

// fresh is a shell of its own. Variables may be exported to it or not; wrappers such as sudo
// change all of them.
func (sh *shell) fresh(via string) *shell {
	sub := sh.nested(via)
	sub.scope.fresh = true
	sub.set("IFS", known(" \t\n"))
	if home, _ := sh.get("HOME"); !slices.ContainsFunc(sh.wrappers, sh.movesHome) {
		sub.set("HOME", home)
	}
	sub.locals = nil
	return sub
}

// movesHome tells whether what a wrapper runs may have another home folder.
func (sh *shell) movesHome(wrapper string) bool {
	return !IsShell(wrapper) && !IsBuiltin(wrapper) && !sh.a.programs.Is(wrapper, "keeps-home")
}

// function is what a name was defined as. It is not sure in a shell of its own.
func (sh *shell) function(name string) (list []*function, sure bool) {
	sure = true
	for s := sh.scope; s != nil; s = s.up {
		if list, ok := s.functions[name]; ok {
			return list, sure
		}
		sure = sure && !s.fresh
	}
	return nil, false
}

func (sh *shell) define(name string, list ...*function) {
	if sh.scope.functions == nil {
		sh.scope.functions = map[string][]*function{}
	}
	sh.scope.functions[name] = list
}

// branch runs something that may not run, or more than once. What it changes is
// unknown afterwards; it tells whether there was any such thing.
func (sh *shell) branch(run func(*shell)) (changed bool) {
	b := sh.fork()
	b.uncertain = true
	if sh.out != nil {
		sh.out.known = false
	}
	run(b)
	return sh.merge(b)
}

// merge takes over what a fork may have changed.
func (sh *shell) merge(b *shell) (changed bool) {
	for name, v := range b.scope.vars {
		old, _ := sh.get(name)
		if old.same(v) {
			continue
		}
		changed = changed || !old.Dynamic
		sh.set(name, old.or(v))
	}
	for name, list := range b.scope.functions {
		before, _ := sh.function(name)
		sh.define(name, slices.Concat(before, list)...)
	}
	if !slices.EqualFunc(b.args, sh.args, func(x, y word) bool { return x.Word == y.Word }) ||
		b.open != sh.open {
		sh.args, sh.open, changed = nil, true, true
	}
	if b.in != sh.in {
		in := *b.in
		in.Known = false
		sh.in = &in
	}
	if b.dir.path != sh.dir.path || b.dir.known != sh.dir.known {
		sh.dir.known = false
		changed = true
	}
	sh.dir.like = same(sh.dir.like, b.dir.like)
	return changed
}

// maxNames bounds how many programs are kept of those that a text went through.
const maxNames = 32

// appended is a longer list. What it adds is not seen through the list itself.
func appended[T any](list []T, more ...T) []T { return append(list[:len(list):len(list)], more...) }

// join adds names that are not there yet.
func join(to, names []string) []string {
	for _, n := range names {
		if n != "" && len(to) < maxNames && !slices.Contains(to, n) {
			to = appended(to, n)
		}
	}
	return to
}

// emit adds a command to the facts.
func (sh *shell) emit(cmd Command) {
	cmd.Start, cmd.End = sh.start, sh.end
	cmd.Depth, cmd.Via = sh.depth, sh.via
	if sh.dir.known {
		cmd.Cwd = sh.dir.path
	}
	if cmd.Argv == nil {
		cmd.Argv = []string{}
	}
	if sh.out != nil && cmd.Binary != "" {
		sh.out.from = join(sh.out.from, []string{cmd.Binary})
	}
	sh.a.script.Commands = append(sh.a.script.Commands, cmd)
	sh.a.spend(1)
}

func (sh *shell) cwd() string {
	if sh.dir.known {
		return sh.dir.path
	}
	return ""
}
