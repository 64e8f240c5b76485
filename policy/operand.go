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
	Command *shell.Command // nil: the call itself
	Cut     bool           // the command has longer lists than conditions see
}

// CallEnv returns what a condition about the whole call sees.
func (f *Facts) CallEnv(m Moment) *Env {
	env := &Env{Call: f.Call, Script: f.Script, Cmd: &shell.Command{}, Home: f.Home, Moment: m}
	if env.Script == nil {
		env.Script = &shell.Script{Parsed: true}
	}
	return env
}

// CommandEnvs yields what a condition about commands sees, for each command. The caller must not keep an Env.
func (f *Facts) CommandEnvs(m Moment) iter.Seq2[*Env, Operand] {
	return func(yield func(*Env, Operand) bool) {
		env := Env{Call: f.Call, Script: f.Script, Home: f.Home, Moment: m}
		for cmd := range f.commands() {
			o := Operand{Name: cmd.Binary, Command: cmd}
			env.Cmd, o.Cut = truncated(cmd)
			if !yield(&env, o) {
				return
			}
		}
	}
}

// PathEnvs yields what a condition about paths sees: for each path of the call, then of its commands. The
// caller must not keep a PathEnv.
func (f *Facts) PathEnvs(m Moment) iter.Seq2[*PathEnv, Operand] {
	lists := func(c *shell.Command) [][]paths.Use { return [][]paths.Use{c.Reads, c.Writes, c.Deletes} }
	set := func(env *PathEnv, u *paths.Use) (*Scene, string) { env.Use = *u; return &env.Scene, u.Path }
	return useEnvs(f, m, f.Paths, lists, set)
}

// URLEnvs yields what a condition about URLs sees, as PathEnvs does.
func (f *Facts) URLEnvs(m Moment) iter.Seq2[*URLEnv, Operand] {
	lists := func(c *shell.Command) [][]urls.Use { return [][]urls.Use{c.URLs} }
	set := func(env *URLEnv, u *urls.Use) (*Scene, string) { env.Use = *u; return &env.Scene, u.URL }
	return useEnvs(f, m, f.URLs, lists, set)
}

// useEnvs yields an environment for each use of the call, then of its commands. set writes a use into the
// environment and returns the rest of it, and what the use names.
func useEnvs[E, U any](f *Facts, m Moment, own []U, lists func(*shell.Command) [][]U,
	set func(*E, *U) (*Scene, string)) iter.Seq2[*E, Operand] {
	return func(yield func(*E, Operand) bool) {
		var env *E // made when it is needed
		all := func(uses []U, cmd *shell.Command) bool {
			for i := range uses {
				first := env == nil
				if first {
					env = new(E)
				}
				scene, name := set(env, &uses[i])
				if first {
					*scene = f.scene(m)
				}
				if cmd != nil {
					scene.Program = cmd.Binary
				}
				if !yield(env, Operand{Name: name, Command: cmd}) {
					return false
				}
			}
			return true
		}
		if !all(own, nil) {
			return
		}
		for cmd := range f.commands() {
			for _, list := range lists(cmd) {
				if !all(list, cmd) {
					return
				}
			}
		}
	}
}

// commands yields the commands of the script, if any.
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

// truncated returns a command whose lists have at most maxOperands entries.
func truncated(c *shell.Command) (_ *shell.Command, cut bool) {
	if max(len(c.Argv), len(c.Operands), len(c.Flags), len(c.Env), len(c.Reads), len(c.Writes),
		len(c.Deletes), len(c.URLs)) <= maxOperands {
		return c, false
	}
	short := *c
	short.Argv, short.Operands = first(c.Argv), first(c.Operands)
	short.Flags, short.Env = first(c.Flags), first(c.Env)
	short.Reads, short.Writes = first(c.Reads), first(c.Writes)
	short.Deletes, short.URLs = first(c.Deletes), first(c.URLs)
	return &short, true
}

func first[T any](list []T) []T { return list[:min(len(list), maxOperands)] }
