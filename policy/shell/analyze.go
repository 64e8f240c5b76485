package shell

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell/scaffold"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// Analyze says what a text can do when bash runs it in this world. It never fails: what
// it cannot tell is in the facts.
func Analyze(text string, w World) *Script {
	r := w.Guard.Roots
	files := map[string]bool{}
	for _, f := range r.ReadFiles {
		files[f] = true
	}
	p := scaffold.Analyze(text, &scaffold.Config{Cwd: r.Cwd, Home: r.Home, WriteRoots: r.Write, ReadRoots: append(slices.Clone(r.Write), r.Read...), ReadFiles: files, MaxDepth: 12, MaxCommands: 4000, MaxSteps: 20000})
	s := &Script{Parsed: p.ParseOK, Error: p.ParseErr, Control: p.Control, Invisible: p.Invisible, ForkBomb: p.ForkBomb, OverBudget: p.TooDeep, Dynamic: p.Dynamic, Binaries: p.Binaries}
	use := func(op paths.Op, ps []scaffold.Path) (out []paths.Use) {
		for _, x := range ps {
			class := x.Class
			if class == "readable" || class == "system" {
				class = paths.Readable
			}
			out = append(out, paths.Use{Op: string(op), Path: x.Path, Resolved: x.Path, Class: class, Dynamic: x.Dyn, Via: x.Via})
		}
		return out
	}
	for _, c := range p.Commands {
		k := Command{Binary: c.Binary, Path: c.Path, PathClass: c.PathClass, Argv: c.Argv, Flags: c.Flags, Sub: c.Sub, Env: c.Env, Wrappers: c.Wrappers, Via: c.Via, Depth: c.Depth, Cwd: c.Cwd,
			DynamicName: c.DynWord, DynamicArgs: c.DynArgs, Known: scaffold.Known(c.Binary), Inline: c.InlineCode, CodeFile: c.CodeFile, ExecFlags: c.ExecFlags, Tags: c.Tags,
			Reads: use(paths.Read, c.Reads), Writes: use(paths.Write, c.Writes), Deletes: use(paths.Delete, c.Deletes), Background: c.Background, Recursive: c.Recursive,
			Stdin: Stdin{Kind: c.Stdin.Kind, Known: c.Stdin.Known, Text: c.Stdin.Text, From: c.Stdin.From, File: c.Stdin.File}}
		for _, u := range c.URLs {
			k.URLs = append(k.URLs, urls.Use{URL: u.URL, Scheme: u.Scheme, Host: u.Host, Class: u.Class, Method: u.Method})
		}
		s.Commands = append(s.Commands, k)
	}
	if len(p.Writes)+len(p.Reads) > 0 {
		s.Commands = append(s.Commands, Command{Reads: use(paths.Read, p.Reads), Writes: use(paths.Write, p.Writes)})
	}
	return s
}
