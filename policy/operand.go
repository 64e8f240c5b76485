package policy

import (
	"iter"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// Operand is what a rule is tried on: a program, a path, a URL, or the call itself.
type Operand struct {
	Name    string         // empty: the call, or a command without a program
	Command *shell.Command // that it belongs to; nil: the call itself
	Cut     bool           // the command has longer lists than conditions see
}

// CallEnv is what a condition about the call as a whole sees.
func (f *Facts) CallEnv(m Moment) *Env {
	env := &Env{Call: f.Call, Script: f.Script, Cmd: &shell.Command{}, Home: f.Home, Moment: m}
	if env.Script == nil {
		env.Script = &shell.Script{Parsed: true}
	}
	return env
}

// CommandEnvs are what a condition about commands sees, one after the other. The caller must not keep one.
func (f *Facts) CommandEnvs(m Moment) iter.Seq2[*Env, Operand] {
	return func(yield func(*Env, Operand) bool) {
		env := Env{Call: f.Call, Script: f.Script, Home: f.Home, Moment: m}
		for cmd := range f.commands() {
			o := Operand{Name: cmd.Binary, Command: cmd}
			env.Cmd, o.Cut = capped(cmd)
			if !yield(&env, o) {
				return
			}
		}
	}
}

// PathEnvs are what a condition about paths sees, one after the other: those of the call, then those of its
// commands. The caller must not keep one.
func (f *Facts) PathEnvs(m Moment) iter.Seq2[*PathEnv, Operand] {
	lists := func(c *shell.Command) [][]paths.Use { return [][]paths.Use{c.Reads, c.Writes, c.Deletes} }
	return func(yield func(*PathEnv, Operand) bool) {
		var env *PathEnv
		for u, cmd := range uses(f, f.Paths, lists) {
			if env == nil {
				env = &PathEnv{Scene: f.scene(m)}
			}
			if cmd != nil {
				env.Program = cmd.Binary
			}
			if env.Use = *u; !yield(env, Operand{Name: u.Path, Command: cmd}) {
				return
			}
		}
	}
}

// URLEnvs are what a condition about URLs sees, as PathEnvs.
func (f *Facts) URLEnvs(m Moment) iter.Seq2[*URLEnv, Operand] {
	lists := func(c *shell.Command) [][]urls.Use { return [][]urls.Use{c.URLs} }
	return func(yield func(*URLEnv, Operand) bool) {
		var env *URLEnv
		for u, cmd := range uses(f, f.URLs, lists) {
			if env == nil {
				env = &URLEnv{Scene: f.scene(m)}
			}
			if cmd != nil {
				env.Program = cmd.Binary
			}
			if env.Use = *u; !yield(env, Operand{Name: u.URL, Command: cmd}) {
				return
			}
		}
	}
}

// uses are those of the call, then those of its commands.
func uses[U any](f *Facts, own []U, lists func(*shell.Command) [][]U) iter.Seq2[*U, *shell.Command] {
	return func(yield func(*U, *shell.Command) bool) {
		for i := range own {
			if !yield(&own[i], nil) {
				return
			}
		}
		for cmd := range f.commands() {
			for _, list := range lists(cmd) {
				for i := range list {
					if !yield(&list[i], cmd) {
						return
					}
				}
			}
		}
	}
}

// commands are those of the script.
func (f *Facts) commands() iter.Seq[*shell.Command] {
	return func(yield func(*shell.Command) bool) {
		for i := 0; f.Script != nil && i < len(f.Script.Commands); i++ {
			if !yield(&f.Script.Commands[i]) {
				return
			}
		}
	}
}

func (f *Facts) scene(m Moment) Scene {
	c := &f.Call
	return Scene{Tool: c.Tool, Kind: c.Kind, ToolClass: c.Class, Command: c.Command, Home: f.Home,
		Confined: c.Confined, Subject: c.Subject, Moment: m}
}

// capped is a command whose lists are no longer than maxOperands.
func capped(c *shell.Command) (_ *shell.Command, cut bool) {
	if max(len(c.Argv), len(c.Operands), len(c.Flags), len(c.Env), len(c.Reads), len(c.Writes),
		len(c.Deletes), len(c.URLs)) <= maxOperands {
		return c, false
	}
	short := *c
	short.Argv, short.Operands, short.Flags, short.Env = some(c.Argv), some(c.Operands), some(c.Flags),
		some(c.Env)
	short.Reads, short.Writes, short.Deletes, short.URLs = some(c.Reads), some(c.Writes), some(c.Deletes),
		some(c.URLs)
	return &short, true
}

func some[T any](list []T) []T { return list[:min(len(list), maxOperands)] }
