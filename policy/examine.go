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
	Programs  *program.Table // nil: no program is known
	Lookup    urls.Lookup    // nil: names are not resolved
	Servers   urls.Servers
	Arguments Arguments
}

// Examine finds out what a call can do without running it. The argument workdir, if any, is where it would
// run.
func Examine(c Call, w World) *Facts {
	f := &Facts{Call: c, Workspace: w.Guard.Roots.Workspace(), Home: w.Guard.Roots.Home}
	if dir, given := c.Args["workdir"]; given && dir != nil && dir != "" {
		text, _ := dir.(string)
		use := w.Guard.Literal(paths.Read, text)
		use.Via = "workdir"
		f.Paths = append(f.Paths, use, use.Below())
		w.Guard.Roots.Cwd = use.Resolved
	}
	if c.tooMany { // too much to look through
		f.Script = &shell.Script{Parsed: true, OverBudget: true}
		return f
	}
	f.Script = analyzeLines(&c, w)
	f.Paths = append(f.Paths, w.Arguments.paths(&c, w.Guard)...)
	f.URLs = w.Arguments.urls(&c, w.Lookup)
	w.Servers.Judge(f.URLs)
	for cmd := range f.commands() {
		w.Servers.Judge(cmd.URLs)
	}
	return f
}

// maxLines is how many command lines of one call are examined.
const maxLines = 128

// analyzeLines returns what all command lines of a call can do; nil if it has none.
func analyzeLines(c *Call, w World) *shell.Script {
	var out *shell.Script
	env, agreed := mergeVariables(c.all)
	at, top := 0, false // where the line stands in Call.Command
	if len(c.lines) > maxLines || !agreed {
		return &shell.Script{OverBudget: true, Parsed: true}
	}
	for _, l := range c.lines {
		top = top || l.topLevel
		for _, g := range guardsFor(l.siblings, l.topLevel, w.Guard) {
			for _, s := range lineReadings(l, shell.World{Guard: g, Programs: w.Programs, Env: env}) {
				out = merge(out, s, at)
			}
		}
		at += len(l.text) + len("\n")
	}
	if out == nil {
		if out = guessScript(c, env, w); out == nil {
			return nil
		}
	}
	out.Commands = append(out.Commands, otherSettings(*c)...)
	if !top && c.Class == "exec" { // what else it runs is unknown
		out.Commands = append(out.Commands, shell.Command{Binary: "tool " + c.Tool, Via: "tool"})
	}
	return out
}

// guessScript returns what a call without a command argument can still run: variables that programs load code
// from, and texts that look like commands of known programs. Texts of an exec tool are skipped: such a tool
// may do anything.
func guessScript(c *Call, env map[string]string, w World) (out *shell.Script) {
	if len(env) > 0 {
		set := shell.World{Guard: w.Guard, Programs: w.Programs, Env: env}
		if s := shell.Analyze("", set); len(s.Commands) > 1 {
			out = clearSpans(s)
		}
	}
	remaining := maxLines
	for _, a := range c.all {
		list, _ := a.texts()
		for _, text := range list {
			if c.Class == "exec" || !looksLike(looksShell, text) || !w.Arguments.role(c, a).shell {
				continue
			}
			if remaining--; remaining < 0 {
				return merge(out, &shell.Script{OverBudget: true, Parsed: true}, 0)
			}
			if s := shell.Analyze(text, shell.World{Guard: w.Guard, Programs: w.Programs}); s.Parsed &&
				isCommandLine(s) {
				out = merge(out, clearSpans(dropUnknown(s)), 0)
			}
		}
	}
	return out
}

// isCommandLine reports whether a text that looks like commands is one: its first program is known, and not
// every command is a bare word, as in "node | python | go".
func isCommandLine(s *shell.Script) bool {
	first := slices.IndexFunc(s.Commands, func(c shell.Command) bool { return c.Binary != "" })
	return first >= 0 && understood(s.Commands[first]) && slices.ContainsFunc(s.Commands,
		func(c shell.Command) bool { return len(c.Argv) > 1 })
}

// understood reports whether the effects of a program are known.
func understood(c shell.Command) bool {
	return c.Known && c.Binary != "" && !slices.Contains(c.Tags, "unlisted-sub")
}

// dropUnknown keeps the understood commands of a text that only looks like commands: "sort by date; then
// stop" may be prose, so its unknown parts are no reason to ask.
func dropUnknown(s *shell.Script) *shell.Script {
	s.Dynamic = nil
	s.Commands = slices.DeleteFunc(s.Commands, func(c shell.Command) bool { return !understood(c) })
	return s
}

// clearSpans marks a script as one that is not part of Call.Command.
func clearSpans(s *shell.Script) *shell.Script {
	for i := range s.Commands {
		s.Commands[i].Start, s.Commands[i].End = 0, 0
	}
	return s
}

// lineReadings returns everything that a line may mean. Some tools take a list of words as a program with
// arguments, others as a line of shell. Code may be in any language: it counts as code, and as shell where it
// parses.
func lineReadings(l line, w shell.World) []*shell.Script {
	s := shell.Analyze(l.text, w)
	switch {
	case l.code != "":
		if !l.topLevel && wordOnly.MatchString(l.text) && (len(s.Commands) == 0 ||
			!s.Commands[len(s.Commands)-1].Known) {
			return nil // the code of a country, or the name of a script
		}
		s.Parsed, s.Error = true, ""
		s.Commands = append(s.Commands, shell.Command{Binary: "code", Inline: true, Via: "argument " + l.code,
			End: len(l.text)})
		s.Binaries = append(s.Binaries, "code")
	case l.words != nil:
		return []*shell.Script{s, clearSpans(shell.Analyze(quoteWords(l.words), w))}
	}
	return []*shell.Script{s}
}

var wordOnly = regexp.MustCompile(`^[\w-]*$`)

// quoteWords returns a line that a shell splits into words.
func quoteWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(out, " ")
}

// merge adds script b, whose text begins at byte at, to a.
func merge(a, b *shell.Script, at int) *shell.Script {
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

// otherSettings returns, as commands of the same effect, what other arguments of OpenClaw's exec change: the
// machine, the user's rights, the variables.
func otherSettings(c Call) (out []shell.Command) {
	add := func(k shell.Command) {
		k.Known = true
		out = append(out, k)
	}
	if env := c.Args["env"]; env != nil && parseVariables(env) == nil {
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
