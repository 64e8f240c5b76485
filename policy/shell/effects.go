package shell

import (
	"cmp"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// runProgram runs a program with its effect from the table.
func (sh *shell) runProgram(cmd Command, c call, base string) {
	e := sh.resolveInstalled(base, sh.a.programs.Of(base, programWords(c.args())))
	from := sh.apply(&cmd, e, c)
	sh.addFolders(&cmd, e, c)
	if slices.Contains(e.Tags, "workspace-code") {
		sh.workspaceCode(&cmd, c.folder(e))
	}
	if e.Changes {
		for _, u := range sh.use(paths.Write, c.folder(e), "folder") {
			if !paths.InWorkspace(u.Class) {
				cmd.Writes = append(cmd.Writes, u)
			}
		}
	}
	sh.addReferred(&cmd, e)
	sh.markFetched(&cmd, e)
	sh.checkNames(base, e, c)
	if cmd.runsWorkspaceCode() {
		sh.outsideArguments(&cmd, c, e.Is("labels"))
	}
	if e.Is("repository-settings") {
		sh.bareRepository(c.folder(e))
	}
	sh.emit(cmd)
	sh.recordFiles(base, e, c)
	if cmd.PathClass == "" || cmd.PathClass == paths.System || cmd.PathClass == paths.Readable {
		sh.output(base, e, c)
	} else {
		sh.out.write("", false, base)
	}
	for _, r := range e.Runs {
		sh.runFrom(base, r, from)
	}
	if e.ReadsIn || e.ReadsCode {
		if sh.in.code {
			sh.a.unsure(base + " reads from the code that the shell is reading")
		}
		sh.in.consume()
	}
}

// apply sets what a program does, and returns the programs that wrote its arguments.
func (sh *shell) apply(cmd *Command, e program.Effect, c call) (from []string) {
	for _, w := range c.args() {
		from = union(from, w.from)
	}
	cmd.Known = e.Known
	cmd.Sub, cmd.Flags, cmd.ExecFlags, cmd.Recursive = e.Sub, e.Flags, e.ExecFlags, e.Recursive
	cmd.Inline = e.Inline || e.ReadsCode
	cmd.OddEnv = append(cmd.OddEnv, e.Odd...)
	cmd.tag(e.Tags...)
	for _, w := range e.Operands {
		cmd.Operands = append(cmd.Operands, w.Text)
	}
	for _, why := range e.Unsure {
		sh.a.unsure(cmd.Binary + ": " + why)
	}
	for _, t := range e.Touches {
		uses := sh.use(paths.Op(t.Op), c.argument(t.Word), t.Via)
		if t.Guess {
			sh.a.guard.Guessed(uses)
		}
		switch paths.Op(t.Op) {
		case paths.Read:
			for i := range uses {
				if e.Follows {
					sh.a.guard.Follows(&uses[i])
				}
			}
			cmd.Reads = append(cmd.Reads, uses...)
		case paths.Write:
			cmd.Writes = append(cmd.Writes, uses...)
		default:
			cmd.Deletes = append(cmd.Deletes, uses...)
		}
	}
	sh.addPatched(cmd, e, c)
	sh.tagDiscards(cmd, e, c)
	for _, f := range e.Fetches {
		if e.SendsIn && sh.in.Kind != "" && f.Method == "GET" {
			f.Method = "POST"
		}
		cmd.URLs = append(cmd.URLs, urls.Word(f.Word.Text, f.Word.Dynamic, f.Method))
	}
	switch {
	case e.ReadsCode:
		cmd.tag(sh.originTags(sh.in.From)...)
	case e.Inline:
		cmd.tag(sh.originTags(from)...)
	}
	if e.CodeFile.Text != "" || e.CodeFile.Dynamic {
		sh.codeFile(cmd, word{Word: e.CodeFile})
	}
	return from
}

// argument returns a word of the table with what is known of it here.
func (c call) argument(w program.Word) word {
	if w.Dynamic {
		for _, a := range c.args() {
			if a.Text == w.Text && a.Fits == w.Fits {
				return a
			}
		}
	}
	return word{Word: w}
}

// folder returns the folder that a program works in.
func (c call) folder(e program.Effect) word {
	if e.Folder == nil {
		return literal(".")
	}
	return c.argument(*e.Folder)
}

// runFrom runs what a program runs.
func (sh *shell) runFrom(base string, r program.Run, from []string) {
	sub := sh.nested(r.Via)
	if r.NewShell {
		sub = sh.fresh(r.Via)
	}
	sub.posix = sub.posix || len(r.Argv) == 0 // programs leave code to sh
	if r.Wrapper != "" || len(r.Argv) > 0 {
		sub.wrappers = appendCopy(sub.wrappers, cmp.Or(r.Wrapper, base))
	}
	sub.env = appendCopy(sub.env, r.Env...)
	for _, name := range r.Env {
		sub.set(name, unknown(""))
	}
	if !r.KeepStdin {
		sub.in = &stream{}
	}
	if r.Dir != nil {
		sub.dir.alternatives = nil
		sub.chdir(word{Word: *r.Dir})
		sub.dir.alternatives = nil
	}
	switch {
	case r.Shell:
		sub.in = sh.in
		sub.codeFromInput(base)
	case r.Lines:
		sub.perLine(r, sh.in, from)
	case len(r.Argv) > 0:
		sub.call(call{words: withOrigin(r.Argv, from), program: true})
	default:
		sub.codeOf(word{Word: r.Code, from: from}, r.Via)
	}
}
