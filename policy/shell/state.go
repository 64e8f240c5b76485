package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// shell is one shell or subshell at a point of its run. A subshell is a copy with its own scope.
type shell struct {
	a     *analysis
	scope *scope
	dir   folderState
	in    *stream // of commands
	out   *sink   // of commands; nil: output is dropped

	outermost  bool // statements are part of the text given to Analyze
	start, end int  // of the current statement, in that text

	via         string
	depth       int
	nesting     int    // statements around this one
	rounds      int    // of all loops around this one
	args        []word // $1, $2 …
	argsUnknown bool   // also how many there are
	posix       bool   // it may be a shell that knows less than bash, such as sh
	wrappers    []string
	env         []string
	background  bool
	uncertain   bool // in a branch or a loop, which may not run
	running     []*function
	errexit     bool            // set -e
	conditions  int             // around this place; set -e does not count in them
	locals      map[string]bool // of the running function
}

// folderState is the folder that a shell is in.
type folderState struct {
	path         string
	known        bool
	alternatives []string // where it may be instead, if an unchecked cd has failed
	pattern      string   // that an unknown folder matches; empty: nothing is known
}

// scope holds what was set since a subshell or a branch began.
type scope struct {
	up        *scope
	fresh     bool // of a new shell, which sees only what is exported
	vars      map[string]value
	functions map[string][]*function // several if branches defined them
}

type function struct {
	name   string
	body   *syntax.Stmt
	called bool
}

// shell returns the shell that runs the outermost text.
func (a *analysis) shell() *shell {
	cwd := a.guard.Roots.Cwd
	return &shell{a: a, scope: &scope{}, dir: folderState{path: cwd, known: cwd != ""}, in: &stream{},
		rounds: 1}
}

// fork returns a subshell, which sees everything that is set here but changes none of it.
func (sh *shell) fork() *shell {
	sub := *sh
	sub.scope = &scope{up: sh.scope}
	return &sub
}

// nested returns a subshell for text inside this one.
func (sh *shell) nested(via string) *shell {
	sub := sh.fork()
	sub.via, sub.outermost = via, false
	sub.depth++
	return sub
}

// fresh returns a new shell. Variables may or may not be exported to it; wrappers such as sudo change all of
// them.
func (sh *shell) fresh(via string) *shell {
	sub := sh.nested(via)
	sub.scope.fresh = true
	sub.set("IFS", known(" \t\n"))
	if home, _ := sh.get("HOME"); !slices.ContainsFunc(sh.wrappers, sh.movesHome) {
		sub.set("HOME", home)
	}
	sub.locals, sub.errexit = nil, false
	return sub
}

// movesHome reports whether what a wrapper runs may have another home folder.
func (sh *shell) movesHome(wrapper string) bool {
	return !IsShell(wrapper) && !IsBuiltin(wrapper) && !sh.a.programs.Is(wrapper, "keeps-home")
}

// function returns the definitions of a name. They are not sure across a new shell.
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

// branch runs something that may not run, or more than once. What it changes is unknown afterwards; it
// reports whether anything changed.
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
		if old.equal(v) {
			continue
		}
		changed = changed || !old.Dynamic
		sh.set(name, old.orElse(v))
	}
	for name, list := range b.scope.functions {
		before, _ := sh.function(name)
		sh.define(name, slices.Concat(before, list)...)
	}
	if !slices.EqualFunc(b.args, sh.args, func(x, y word) bool { return x.Word == y.Word }) ||
		b.argsUnknown != sh.argsUnknown {
		sh.args, sh.argsUnknown, changed = nil, true, true
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
	if sh.dir.pattern != b.dir.pattern {
		sh.dir.pattern = ""
	}
	return changed
}

// maxNames is how many of the programs that wrote a text are kept.
const maxNames = 32

// appendCopy appends without changing the array behind list.
func appendCopy[T any](list []T, more ...T) []T { return append(list[:len(list):len(list)], more...) }

// union appends names that are not in the list yet.
func union(to, names []string) []string {
	for _, n := range names {
		if n != "" && len(to) < maxNames && !slices.Contains(to, n) {
			to = appendCopy(to, n)
		}
	}
	return to
}

// emit adds a command to the script.
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
		sh.out.from = union(sh.out.from, []string{cmd.Binary})
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
