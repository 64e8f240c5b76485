package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// simpleCommand runs a command, an assignment, or both. It reports whether its redirections stay in force.
func (sh *shell) simpleCommand(c *syntax.CallExpr, used redirected) (stays bool) {
	// the words are expanded before the assignments count
	words := make([]word, 0, len(c.Args))
	for i, w := range c.Args {
		if s, ok := plainText(w); ok && (i > 0 || !strings.Contains(s, "=")) {
			words = append(words, literal(s))
			continue
		}
		if i == 0 {
			if assigns(w) {
				sh.a.unsure("an assignment that the parser takes as a name")
			}
			for _, p := range w.Parts {
				if _, ok := p.(*syntax.ProcSubst); ok {
					sh.a.unsure("a process substitution in the name of a command")
				}
			}
		}
		from := len(words)
		words = append(words, sh.fields(w)...)
		for k := range words[from:] {
			words[from+k].splits = expandsBare(w)
		}
	}
	if len(words) > sh.a.limits.Commands {
		sh.a.exceed()
		return false
	}
	if len(words) == 0 {
		sh.assignOnly(c, used)
		return false
	}
	if len(c.Assigns) == 0 {
		sh.call(call{words: words, used: used})
	} else {
		sh.callWith(c.Assigns, call{words: words, used: used})
	}
	return len(words) == 1 && words[0].Text == "exec"
}

// expandsBare reports whether a word can become several: it has an unquoted expansion, or "$@".
func expandsBare(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		switch p := p.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			return true
		case *syntax.DblQuoted:
			return slices.ContainsFunc(p.Parts, func(p syntax.WordPart) bool {
				e, is := p.(*syntax.ParamExp)
				if !is || e.Param == nil {
					return false
				}
				i, word := e.Index.(*syntax.Word)
				return e.Param.Value == "@" || word && i.Lit() == "@"
			})
		}
		return false
	})
}

// assigns reports whether bash may take a command name as an assignment: after coproc, the parser takes one
// as the name. No program has such a name.
func assigns(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		l, ok := p.(*syntax.Lit)
		return ok && strings.Contains(l.Value, "=")
	})
}

// assignOnly runs a command without a name.
func (sh *shell) assignOnly(c *syntax.CallExpr, used redirected) {
	cmd := Command{Reads: used.reads, Writes: used.writes}
	for _, a := range c.Assigns {
		if name, _ := sh.assign(a); name != "" {
			cmd.Env = append(cmd.Env, name)
		}
	}
	if len(cmd.Env) > 0 || !used.none() {
		sh.emit(cmd)
	}
	if len(c.Args) > 0 {
		sh.a.unsure("a command of which nothing is left when its words are expanded")
	}
}

// callWith runs a command with variables that are set for it alone.
func (sh *shell) callWith(assigns []*syntax.Assign, c call) {
	env := sh.env
	type saved struct {
		name string
		value
	}
	var before []saved
	for _, a := range assigns {
		if a.Name != nil {
			v, _ := sh.get(a.Name.Value)
			before = append(before, saved{a.Name.Value, v})
		}
		if name, _ := sh.assign(a); name != "" {
			sh.env = appendCopy(sh.env, name)
			sh.noteExported(name)
		}
	}
	sh.call(c)
	sh.env = env
	for _, s := range slices.Backward(before) {
		sh.set(s.name, s.value)
	}
}

// call runs a command: a function, a builtin, a shell, or a program.
func (sh *shell) call(c call) {
	if sh.depth > sh.a.limits.Depth {
		sh.a.exceed()
	}
	if len(c.words) == 0 || !sh.a.spend(1+len(c.words)/16) {
		return
	}
	name := c.words[0]
	cmd := sh.command(c)
	if name.vague() {
		sh.a.unsure("the name of a command is only known at run time: " + name.Text)
	}
	if name.Text == "" {
		sh.emit(cmd)
		return
	}
	if !c.program && sh.callFunction(cmd, c) {
		return
	}
	if !strings.Contains(name.Text, "/") && sh.callBuiltin(cmd, c) {
		return
	}
	base := sh.locate(&cmd, name.Text)
	if IsShell(base) {
		sh.interpret(cmd, c)
		return
	}
	sh.runProgram(cmd, c, base)
	if cmd.Path != "" {
		sh.runCreated(c, cmd.Path)
	}
}

// runCreated runs the text that the script has written where a program is, as a shell would.
func (sh *shell) runCreated(c call, at string) {
	if f := sh.a.files[at]; f != nil && f.text.Len() > 0 {
		sub := sh.fresh("file")
		sub.out = nil
		sub.args, sub.argsUnknown = c.args(), false
		sub.code(f.text.String())
	}
}

// command returns what is known of a call without its program.
func (sh *shell) command(c call) Command {
	cmd := Command{
		Binary: c.words[0].Text, Argv: make([]string, len(c.words)), DynamicName: c.words[0].vague(),
		Via: sh.via, Depth: sh.depth, Env: sh.env, Wrappers: sh.wrappers,
		Stdin: sh.in.Stdin, Background: sh.background, Reads: c.used.reads, Writes: c.used.writes,
	}
	for i, w := range c.words {
		cmd.Argv[i] = w.Text
		cmd.DynamicArgs = cmd.DynamicArgs || i > 0 && w.Dynamic
	}
	return cmd
}

// locate sets where a program is, and returns the name in the table of programs.
func (sh *shell) locate(cmd *Command, name string) string {
	cmd.Binary = name
	if !strings.Contains(name, "/") {
		return name
	}
	u := sh.useFrom(paths.Run, word{Word: program.Word{Text: name, Dynamic: cmd.DynamicName}}, sh.cwd(),
		"name")
	cmd.Path, cmd.PathClass = u.Resolved, u.Class
	if cmd.Path == "" {
		cmd.Path = name
	}
	if sh.dir.known || name[0] == '/' {
		cmd.Path = absolute(name, sh.dir.path)
	}
	if sh.created(literal(name)) != nil {
		cmd.tag("runs-created-file")
	}
	if paths.InWorkspace(cmd.PathClass) {
		cmd.tag("workspace-program")
	}
	cmd.Binary = path.Base(cmd.Path)
	return cmd.Binary
}
