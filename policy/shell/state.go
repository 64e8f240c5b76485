package shell

import (
	"maps"
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// shell is one shell or subshell at a point of its run. A subshell is a copy with a
// scope of its own.
type shell struct {
	a     *analysis
	scope *scope
	dir   place
	in    *stream // what commands read
	out   *sink   // where commands write; nil: nobody looks at it

	outer      *reading // the outermost text; nil inside of other text and functions
	start, end int      // of what runs now, in the outermost text

	via        string
	depth      int
	nesting    int    // statements around this one
	rounds     int    // of all loops around this one
	args       []word // $1, $2 …
	open       bool   // nobody knows how many
	plain      bool   // it may be a shell that knows less than bash: sh
	wrappers   []string
	env        []string
	background bool
	uncertain  bool // in a branch or a loop: it may not run
	running    []*function
	exported   map[string][]*function // of the shells that started this one
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
	vars      map[string]value
	functions map[string][]*function // several where branches defined it
	programs  map[string]string      // hash -p
	aliases   map[string]bool
}

// value is what a variable holds. If it is unknown, the text in it is one that it may
// have.
type value struct {
	expand.Variable
	unknown bool
	glob    bool // it may hold a pattern that stands for file names
	from    []string
	fits    string // as in program.Word
}

type function struct {
	name   string
	body   *syntax.Stmt
	called bool
}

func known(s string) value {
	return value{Variable: expand.Variable{Set: true, Kind: expand.String, Str: s}}
}

func unknown(guess string) value {
	v := known(guess)
	v.unknown = true
	return v
}

// shell is the one that runs the outermost text.
func (a *analysis) shell() *shell {
	r := a.guard.Roots
	sh := &shell{a: a, scope: &scope{}, dir: place{path: r.Cwd, known: r.Cwd != ""}, in: &stream{}, rounds: 1}
	sh.set("HOME", value{Variable: known(r.Home).Variable, unknown: r.Home == ""})
	sh.set("IFS", known(" \t\n"))
	sh.set("OLDPWD", known(r.Cwd))
	sh.set("0", known("bash"))
	return sh
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
	sub.via, sub.outer = via, nil
	sub.depth++
	return sub
}

// fresh is a shell of its own. It sees functions only where they are exported, so each
// may be there or not. That it sees all variables stands for those that are exported.
func (sh *shell) fresh(via string) *shell {
	sub := sh.nested(via)
	sub.scope.functions = map[string][]*function{}
	sub.exported = maps.Clone(sh.exported)
	for s := sh.scope; s != nil; s = s.up {
		for name := range s.functions {
			sub.scope.functions[name] = nil
			if list := sh.function(name); len(list) > 0 {
				sub.exported = merged(sub.exported, map[string][]*function{name: list})
			}
		}
	}
	return sub
}

func (sh *shell) get(name string) (value, bool) {
	if name != "" && name[0] < 'A' && name != "0" {
		if v, is := sh.parameter(name); is {
			return v, v.Set
		}
	}
	v := found(sh.scope, func(s *scope) map[string]value { return s.vars }, name)
	return v, v.Set
}

// found is what the innermost scope says that says anything of a name.
func found[V any](s *scope, of func(*scope) map[string]V, name string) (v V) {
	for ; s != nil; s = s.up {
		if v, ok := of(s)[name]; ok {
			return v
		}
	}
	return v
}

func (sh *shell) set(name string, v value) {
	if sh.scope.vars == nil {
		sh.scope.vars = map[string]value{}
	}
	sh.scope.vars[name] = v
}

// parameter is $1, $2 …, $@, $* or $#.
func (sh *shell) parameter(name string) (v value, is bool) {
	switch name {
	case "@", "*":
		v = value{Variable: expand.Variable{Set: true, Kind: expand.Indexed}, unknown: sh.open}
		for _, w := range sh.args {
			v.List = append(v.List, w.Text)
			v.unknown = v.unknown || w.Dynamic
			v.glob = v.glob || w.Glob
			v.from = join(v.from, w.from)
		}
		return v, true
	case "#":
		v = known(strconv.Itoa(len(sh.args)))
		v.unknown = sh.open || slices.ContainsFunc(sh.args, word.vague)
		return v, true
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 || name[0] == '0' {
		return value{}, false
	}
	before := sh.args[:min(n, len(sh.args))]
	switch {
	case sh.open:
		return unknown(""), true
	case n > len(sh.args):
		v = value{}
	default:
		v = sh.args[n-1].value()
	}
	if slices.ContainsFunc(before, word.vague) { // it may have become several words
		v.unknown, v.Set, v.Kind = true, true, expand.String
	}
	return v, true
}

func (sh *shell) function(name string) []*function {
	return found(sh.scope, func(s *scope) map[string][]*function { return s.functions }, name)
}

func (sh *shell) define(name string, list ...*function) {
	if sh.scope.functions == nil {
		sh.scope.functions = map[string][]*function{}
	}
	sh.scope.functions[name] = list
}

// program is the path that hash -p gave a name, or the name.
func (sh *shell) program(name string) string {
	if p := found(sh.scope, func(s *scope) map[string]string { return s.programs }, name); p != "" {
		return p
	}
	return name
}

func (sh *shell) aliased(name string) bool {
	return found(sh.scope, func(s *scope) map[string]bool { return s.aliases }, name)
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
	for name, v := range b.scope.vars {
		old, _ := sh.get(name)
		if old.unknown == v.unknown && old.Set == v.Set && old.Str == v.Str && slices.Equal(old.List, v.List) {
			continue
		}
		changed = changed || !old.unknown
		v.unknown, v.Set, v.fits = true, true, ""
		sh.set(name, v)
	}
	for name, list := range b.scope.functions {
		sh.define(name, slices.Concat(sh.function(name), list)...)
	}
	if len(b.scope.programs)+len(b.scope.aliases) > 0 {
		sh.scope.programs = merged(sh.scope.programs, b.scope.programs)
		sh.scope.aliases = merged(sh.scope.aliases, b.scope.aliases)
	}
	if !slices.EqualFunc(b.args, sh.args, func(x, y word) bool { return x.Word == y.Word }) || b.open != sh.open {
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

func merged[V any](a, b map[string]V) map[string]V {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]V{}
	}
	maps.Copy(out, b)
	return out
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
