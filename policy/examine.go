package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// World is where a call would run, and what its arguments mean.
type World struct {
	Guard     paths.Guard
	Lookup    urls.Lookup // nil: names are not looked up
	Servers   urls.Servers
	Arguments Arguments
}

// Examine finds out what a call can do, without doing any of it. A folder in its
// argument workdir is where it would run.
func Examine(c Call, w World) *Facts {
	f := &Facts{Call: c, Workspace: w.Guard.Roots.Workspace()}
	if dir, given := c.Args["workdir"]; given && dir != nil && dir != "" {
		text, _ := dir.(string)
		use := w.Guard.Literal(paths.Read, text)
		use.Via = "workdir"
		f.Paths = append(f.Paths, use, use.Below())
		w.Guard.Roots.Cwd = use.Resolved
	}
	f.Script = script(c, w)
	f.Paths = append(f.Paths, w.Arguments.paths(c, w.Guard)...)
	f.URLs = w.Arguments.urls(c, w.Lookup)
	w.Servers.Judge(f.URLs)
	for cmd := range f.commands() {
		w.Servers.Judge(cmd.URLs)
	}
	return f
}

// script is what the commands of a call can do together; nil where it has none.
func script(c Call, w World) *shell.Script {
	var out *shell.Script
	at := 0 // where the line stands in Call.Command
	for _, l := range lines(c.Tool, c.Args) {
		for _, s := range readings(l, shell.World{Guard: w.Guard, Env: variables(c)}) {
			out = join(out, s, at)
		}
		at += len(l.text) + len("\n")
	}
	if out == nil {
		return nil
	}
	out.Commands = append(out.Commands, circumstances(c)...)
	return out
}

// readings are all that a line may mean. A list of words is a program with its
// arguments to some tools, and a line of shell to others. Code may be in any language:
// it counts as code, and as shell where it is that.
func readings(l line, w shell.World) []*shell.Script {
	s := shell.Analyze(l.text, w)
	switch {
	case l.key == "code":
		s.Parsed, s.Error = true, ""
		s.Commands = append(s.Commands, shell.Command{Binary: l.key, Inline: true, Via: "argument " + l.key, End: len(l.text)})
	case l.words != nil:
		argv := shell.Analyze(quote(l.words), w)
		for i := range argv.Commands {
			argv.Commands[i].Start, argv.Commands[i].End = 0, 0 // of a text that nobody wrote
		}
		return []*shell.Script{s, argv}
	}
	return []*shell.Script{s}
}

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

// variables are those that the argument env sets; nil where it is no mapping.
func variables(c Call) map[string]string {
	env, ok := c.Args["env"].(map[string]any)
	if !ok {
		return nil
	}
	out := map[string]string{}
	for name, value := range env {
		out[name] = fmt.Sprint(value)
	}
	return out
}

// circumstances are what the arguments of OpenClaw's exec say beside the command, as
// commands that do as much: another machine, more rights.
func circumstances(c Call) (out []shell.Command) {
	add := func(k shell.Command) {
		k.Known = true
		out = append(out, k)
	}
	if env := c.Args["env"]; env != nil && variables(c) == nil {
		add(shell.Command{Env: []string{"PATH"}, Via: "argument env"}) // nobody can tell which
	}
	if e := c.Args["elevated"]; e != nil && e != false && e != "" && e != "off" {
		add(shell.Command{Tags: []string{"privilege"}, Via: "argument elevated"})
	}
	host, node := c.Args["host"], c.Args["node"]
	if host != nil && host != "" && host != "auto" && host != "gateway" && host != "sandbox" || node != nil && node != "" {
		add(shell.Command{Tags: []string{"remote"}, Via: fmt.Sprintf("argument host %v %v", host, node)})
	}
	return out
}
