package shell

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

// codeFile records a file whose code a program runs.
func (sh *shell) codeFile(cmd *Command, w word) {
	cmd.CodeFile = w.Text
	if w.Dynamic {
		sh.a.unsure("the file whose code " + cmd.Binary + " runs is only known at run time")
	}
	if strings.HasPrefix(w.Text, "/dev/fd/") || w.Text == "/dev/stdin" || w.Text == "-" {
		s := sh.openFile(w)
		cmd.Inline, cmd.Stdin = true, s.Stdin
		cmd.tag(sh.originTags(s.From)...)
		return
	}
	if !slices.ContainsFunc(cmd.Reads, func(u paths.Use) bool { return u.Path == w.Text }) {
		cmd.Reads = append(cmd.Reads, sh.use(paths.Read, w, "code")...)
	}
	if s := sh.created(w); s != nil {
		cmd.tag("runs-created-file")
		cmd.tag(sh.originTags(s.from)...)
	}
	if slices.ContainsFunc(sh.use(paths.Read, w, "code"), sh.isForeign) {
		cmd.tag("foreign-code")
	}
}

// isForeign reports whether a file is outside the workspace or in a folder for temporary files.
func (sh *shell) isForeign(u paths.Use) bool {
	const temporary = "/tmp/"
	if strings.HasPrefix(u.Resolved+"/", temporary) && !strings.HasPrefix(sh.a.guard.Roots.Cwd, temporary) {
		return true
	}
	return !paths.InWorkspace(u.Class)
}

// codeOf runs the text of a word as code.
func (sh *shell) codeOf(w word, what string) {
	if w.Dynamic {
		sh.a.unsure("code is only known at run time: " + what)
		sh.out.write("", false)
	}
	if strings.TrimSpace(w.Text) != "" {
		sh.code(w.Text)
	}
}

// codeFromInput runs the standard input as code. Its commands share that input with the shell.
func (sh *shell) codeFromInput(name string) {
	in := sh.in
	sh.out.write("", in.Known)
	switch {
	case in.Kind == "":
		sh.a.unsure(name + " reads its code from a terminal")
		return
	case !in.Known:
		sh.a.unsure(name + " reads code that is only known at run time from a " + in.Kind)
	}
	if text := in.Text; strings.TrimSpace(text) != "" {
		sh.in = &stream{code: true}
		sh.code(text)
	}
}

var standardInput = []string{"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}

// nest runs something in this shell, one level deeper.
func (sh *shell) nest(via string, run func()) {
	before, marks := sh.via, sh.outermost
	sh.via, sh.outermost = via, false
	sh.depth++
	run()
	sh.depth--
	sh.via, sh.outermost = before, marks
}

// downloads reports whether the output of a program may come from the network.
func (sh *shell) downloads(name string) bool { return sh.a.programs.Is(name, "downloads") }

// originTags returns the tags of code that these programs have written.
func (sh *shell) originTags(from []string) (tags []string) {
	if slices.ContainsFunc(from, sh.downloads) {
		tags = append(tags, "downloaded-code")
	}
	if slices.ContainsFunc(from, func(name string) bool { return sh.a.programs.Is(name, "decodes") }) {
		tags = append(tags, "decoded-code")
	}
	return tags
}
