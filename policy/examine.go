package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// World is where a call would run, and what its arguments mean.
type World struct {
	Guard     paths.Guard
	Programs  *program.Table // what is known of programs; nil: nothing
	Lookup    urls.Lookup    // nil: names are not looked up
	Servers   urls.Servers
	Arguments Arguments
}

// Examine finds out what a call can do, without doing any of it. A folder in its
// argument workdir is where it would run.
func Examine(c Call, w World) *Facts {
	f := &Facts{Call: c, Workspace: w.Guard.Roots.Workspace(), Home: w.Guard.Roots.Home}
	if dir, given := c.Args["workdir"]; given && dir != nil && dir != "" {
		text, _ := dir.(string)
		use := w.Guard.Literal(paths.Read, text)
		use.Via = "workdir"
		f.Paths = append(f.Paths, use, use.Below())
		w.Guard.Roots.Cwd = use.Resolved
	}
	if c.over { // too much to look through
		f.Script = &shell.Script{Parsed: true, OverBudget: true}
		return f
	}
	f.Script = script(&c, w)
	f.Paths = append(f.Paths, w.Arguments.paths(&c, w.Guard)...)
	f.URLs = w.Arguments.urls(&c, w.Lookup)
	w.Servers.Judge(f.URLs)
	for cmd := range f.commands() {
		w.Servers.Judge(cmd.URLs)
	}
	return f
}

// mostLines is how many commands of one call are looked at.
const mostLines = 128

// script is what the commands of a call can do together; nil where it has none.
func script(c *Call, w World) *shell.Script {
	var out *shell.Script
	env, agreed := variables(c.nested)
	at, top := 0, false // where the line stands in Call.Command
	if len(c.lines) > mostLines || !agreed {
		return &shell.Script{OverBudget: true, Parsed: true}
	}
	for _, l := range c.lines {
		top = top || l.top
		for _, g := range places(l.in, l.top, w.Guard) {
			for _, s := range readings(l, shell.World{Guard: g, Programs: w.Programs, Env: env}) {
				out = join(out, s, at)
			}
		}
		at += len(l.text) + len("\n")
	}
	if out == nil {
		out = idle(c, env, w)
	}
	if out == nil {
		return nil
	}
	out.Commands = append(out.Commands, circumstances(*c)...)
	if !top && c.Class == "exec" { // what else it runs is unknown
		out.Commands = append(out.Commands, shell.Command{Binary: "tool " + c.Tool, Via: "tool"})
	}
	return out
}

// idle is what a call can do in which no argument is a command by its name: variables that mean something to
// programs, and texts that look like commands of known programs. A tool of class exec may do anything, so its
// texts are skipped.
func idle(c *Call, env map[string]string, w World) (out *shell.Script) {
	if len(env) > 0 {
		set := shell.World{Guard: w.Guard, Programs: w.Programs, Env: env}
		if s := shell.Analyze("", set); len(s.Commands) > 1 {
			out = unplaced(s)
		}
	}
	left := mostLines
	for _, a := range c.nested {
		list, _ := a.texts()
		for _, text := range list {
			if c.Class == "exec" || !looksLike(looksShell, text) || !w.Arguments.role(c, a).shell {
				continue
			}
			if left--; left < 0 {
				return join(out, &shell.Script{OverBudget: true, Parsed: true}, 0)
			}
			if s := shell.Analyze(text, shell.World{Guard: w.Guard, Programs: w.Programs}); s.Parsed &&
				commands(s) {
				out = join(out, unplaced(sober(s)), 0)
			}
		}
	}
	return out
}

// commands reports whether a text that looks like commands is some: the first program is known, and
// not all are bare words, as in "node | python | go".
func commands(s *shell.Script) bool {
	first := slices.IndexFunc(s.Commands, func(c shell.Command) bool { return c.Binary != "" })
	return first >= 0 && understood(s.Commands[first]) && slices.ContainsFunc(s.Commands,
		func(c shell.Command) bool { return len(c.Argv) > 1 })
}

// understood reports whether it is known what a program does.
func understood(c shell.Command) bool {
	return c.Known && c.Binary != "" && !slices.Contains(c.Tags, "unlisted-sub")
}

// sober is what is understood of a text that only looks like commands: "sort by date; then stop" may be said
// to people. What is not understood of it is no reason to ask.
func sober(s *shell.Script) *shell.Script {
	s.Dynamic = nil
	s.Commands = slices.DeleteFunc(s.Commands, func(c shell.Command) bool { return !understood(c) })
	return s
}

// unplaced is a script that does not stand in Call.Command.
func unplaced(s *shell.Script) *shell.Script {
	for i := range s.Commands {
		s.Commands[i].Start, s.Commands[i].End = 0, 0
	}
	return s
}

// readings are all that a line may mean. A list of words is a program with its
// arguments to some tools, and a line of shell to others. Code may be in any language:
// it counts as code, and as shell where it is that.
func readings(l line, w shell.World) []*shell.Script {
	s := shell.Analyze(l.text, w)
	switch {
	case l.code != "":
		if !l.top && wordOnly.MatchString(l.text) && (len(s.Commands) == 0 ||
			!s.Commands[len(s.Commands)-1].Known) {
			return nil // the code of a country, or the name of a script
		}
		s.Parsed, s.Error = true, ""
		s.Commands = append(s.Commands, shell.Command{Binary: "code", Inline: true, Via: "argument " + l.code,
			End: len(l.text)})
		s.Binaries = append(s.Binaries, "code")
	case l.words != nil:
		return []*shell.Script{s, unplaced(shell.Analyze(quote(l.words), w))}
	}
	return []*shell.Script{s}
}

var wordOnly = regexp.MustCompile(`^[\w-]*$`)

// quote makes a line of words that a shell takes apart into the same words.
func quote(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(out, " ")
}

// join adds what another text can do; at is where that text begins.
func join(a, b *shell.Script, at int) *shell.Script {
	for i := range b.Commands {
		b.Commands[i].Start += at
		b.Commands[i].End += at
	}
	if a == nil {
		return b
	}
	a.Parsed = a.Parsed && b.Parsed
	a.Error += b.Error
	a.Control = a.Control || b.Control
	a.Invisible = a.Invisible || b.Invisible
	a.ForkBomb = a.ForkBomb || b.ForkBomb
	a.OverBudget = a.OverBudget || b.OverBudget
	a.Dynamic = append(a.Dynamic, b.Dynamic...)
	for _, name := range b.Binaries {
		if !slices.Contains(a.Binaries, name) {
			a.Binaries = append(a.Binaries, name)
		}
	}
	a.Commands = append(a.Commands, b.Commands...)
	return a
}

// circumstances are what the arguments of OpenClaw's exec say beside the command, as
// commands that do as much: another machine, more rights.
func circumstances(c Call) (out []shell.Command) {
	add := func(k shell.Command) {
		k.Known = true
		out = append(out, k)
	}
	if env := c.Args["env"]; env != nil && variablesOf(env) == nil {
		add(shell.Command{Tags: []string{"code-variable"}, Via: "argument env"}) // which one is unknown
	}
	if e := c.Args["elevated"]; e != nil && e != false && e != "" && e != "off" {
		add(shell.Command{Tags: []string{"privilege"}, Via: "argument elevated"})
	}
	host, node := c.Args["host"], c.Args["node"]
	if host != nil && host != "" && host != "auto" && host != "gateway" && host != "sandbox" || node != nil &&
		node != "" {
		add(shell.Command{Tags: []string{"remote"}, Via: fmt.Sprintf("argument host %v %v", host, node)})
	}
	return out
}
