package shell

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// runProgram runs a program: its effect comes from the table.
func (sh *shell) runProgram(cmd Command, c call, base string) {
	e := program.Of(base, programWords(c.args()))
	from := sh.apply(&cmd, e, c)
	if slices.Contains(e.Tags, "workspace-code") {
		sh.workspaceCode(&cmd)
	}
	sh.unpacked(&cmd, base, e)
	sh.emit(cmd)
	sh.keep(base, e, touched(e, paths.Write))
	sh.output(base, e, c)
	for _, r := range e.Runs {
		sh.runFrom(base, r, from)
	}
	if e.ReadsIn || e.ReadsCode {
		if sh.in.code {
			sh.a.unsure(base + " reads from the code that the shell is reading")
		}
		sh.in.taken()
	}
}

func programWords(list []word) []program.Word {
	out := make([]program.Word, len(list))
	for i, w := range list {
		out[i] = w.Word
	}
	return out
}

func touched(e program.Effect, op paths.Op) (out []word) {
	for _, t := range e.Touches {
		if t.Op == string(op) {
			out = append(out, word{Word: t.Word})
		}
	}
	return out
}

// apply fills in what a program does. It gives the programs that the text of its
// arguments came from.
func (sh *shell) apply(cmd *Command, e program.Effect, c call) (from []string) {
	for _, w := range c.args() {
		from = join(from, w.from)
	}
	cmd.Known = e.Known
	cmd.Sub, cmd.Flags, cmd.ExecFlags, cmd.Recursive = e.Sub, e.Flags, e.ExecFlags, e.Recursive
	cmd.Inline = e.Inline || e.ReadsCode
	cmd.tag(e.Tags...)
	for _, w := range e.Operands {
		cmd.Operands = append(cmd.Operands, w.Text)
	}
	for _, why := range e.Unsure {
		sh.a.unsure(cmd.Binary + ": " + why)
	}
	for _, t := range e.Touches {
		uses := sh.use(paths.Op(t.Op), c.argument(t.Word), t.Via)
		switch paths.Op(t.Op) {
		case paths.Read:
			cmd.Reads = append(cmd.Reads, uses...)
		case paths.Write:
			cmd.Writes = append(cmd.Writes, uses...)
		default:
			cmd.Deletes = append(cmd.Deletes, uses...)
		}
	}
	for _, f := range e.Fetches {
		cmd.URLs = append(cmd.URLs, urls.Word(f.Word.Text, f.Word.Dynamic, f.Method))
	}
	switch {
	case e.ReadsCode:
		cmd.tag(origin(sh.in.From)...)
	case e.Inline:
		cmd.tag(origin(from)...)
	}
	if e.CodeFile.Text != "" || e.CodeFile.Dynamic {
		sh.codeFile(cmd, word{Word: e.CodeFile})
	}
	return from
}

// argument is a word of the table with what is known of it here.
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

// codeFile is a file whose code a program runs.
func (sh *shell) codeFile(cmd *Command, w word) {
	cmd.CodeFile = w.Text
	if w.Dynamic {
		sh.a.unsure("the file whose code " + cmd.Binary + " runs is only known at run time")
	}
	if strings.HasPrefix(w.Text, "/dev/fd/") || w.Text == "/dev/stdin" || w.Text == "-" {
		s := sh.opened(w)
		cmd.Inline, cmd.Stdin = true, s.Stdin
		cmd.tag(origin(s.From)...)
		return
	}
	if !slices.ContainsFunc(cmd.Reads, func(u paths.Use) bool { return u.Path == w.Text }) {
		cmd.Reads = append(cmd.Reads, sh.use(paths.Read, w, "code")...)
	}
	if s := sh.made(w); s != nil {
		cmd.tag("runs-created-file")
		cmd.tag(origin(s.from)...)
	}
	for _, u := range sh.use(paths.Read, w, "code") {
		temporary := strings.HasPrefix(u.Resolved+"/", "/tmp/") && !strings.HasPrefix(sh.a.guard.Roots.Cwd, "/tmp/")
		if u.Class != paths.Workspace && u.Class != paths.WorkspaceRoot || temporary {
			cmd.tag("foreign-code")
			return
		}
	}
}

// runFrom runs what a program runs.
func (sh *shell) runFrom(base string, r program.Run, from []string) {
	sub := sh.nested(r.Via)
	if r.NewShell {
		sub = sh.fresh(r.Via)
	}
	sub.plain = sub.plain || len(r.Argv) == 0 // programs leave code to sh
	if r.Wrapper != "" || len(r.Argv) > 0 {
		sub.wrappers = appended(sub.wrappers, cmp.Or(r.Wrapper, base))
	}
	sub.env = appended(sub.env, r.Env...)
	if !r.KeepStdin {
		sub.in = &stream{}
	}
	if r.Dir != nil {
		sub.dir.or = nil
		sub.chdir(word{Word: *r.Dir})
		sub.dir.or = nil
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

// withOrigin gives words of the table their origin back: that of all arguments, which
// they were taken from.
func withOrigin(list []program.Word, from []string) []word {
	out := make([]word, len(list))
	for i, w := range list {
		out[i] = word{Word: w}
		if w.Dynamic || len(from) > 0 && strings.ContainsAny(w.Text, " \n;") {
			out[i].from = from
		}
	}
	return out
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

// fetches tells whether a program brings text from the network.
func fetches(name string) bool { return slices.Contains(fetchers, name) }

// origin are the tags of code that came from the network, or out of a decoder.
func origin(from []string) (tags []string) {
	if slices.ContainsFunc(from, fetches) {
		tags = append(tags, "downloaded-code")
	}
	if slices.ContainsFunc(from, func(n string) bool { return slices.Contains(decoders, n) }) {
		tags = append(tags, "decoded-code")
	}
	return tags
}

var (
	fetchers = strings.Fields(`curl wget fetch aria2c nc ncat netcat socat ftp tftp sftp scp rsync ssh telnet dig nslookup host lynx w3m http https xh gh aws
		gsutil gcloud az`)
	decoders = strings.Fields(`base64 base32 basenc xxd od hexdump openssl rev tr sed awk gawk mawk uudecode gunzip zcat gzip xz xzcat bzcat bunzip2 bzip2
		zstd gpg perl python python3 ruby node php dd cut`)
)
