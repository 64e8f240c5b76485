package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

// redirected are the files that redirections use.
type redirected struct {
	reads, writes []paths.Use
}

func (r redirected) none() bool { return len(r.reads)+len(r.writes) == 0 }

// redirect sets where commands read and write.
func (sh *shell) redirect(list []*syntax.Redirect) (used redirected) {
	for _, r := range list {
		sh.redirectOne(r, &used)
	}
	return used
}

func (sh *shell) redirectOne(r *syntax.Redirect, used *redirected) {
	if r.Hdoc != nil {
		w := sh.document(r)
		sh.in = &stream{Stdin: Stdin{Kind: "heredoc", Text: w.Text, Known: !w.Dynamic, From: w.from}}
		return
	}
	target := sh.target(r)
	descriptor := ""
	if r.N != nil {
		descriptor = r.N.Value
	}
	switch r.Op {
	case syntax.WordHdoc:
		sh.in = &stream{Stdin: Stdin{Kind: "text", Text: target.Text + "\n", Known: !target.Dynamic,
			From: target.from}}
	case syntax.RdrIn, syntax.RdrInOut:
		used.reads = append(used.reads, sh.use(paths.Read, target, "redirect")...)
		if r.Op == syntax.RdrInOut {
			used.writes = append(used.writes, sh.write(target, "redirect", &sink{})...)
		}
		if descriptor == "" || descriptor == "0" {
			sh.in = sh.openFile(target)
		}
	case syntax.DplIn, syntax.DplOut:
		sh.duplicate(r, target, descriptor, used)
	default:
		sh.redirectOut(r.Op, target, descriptor, used)
	}
}

// target expands the word of a redirection. Bash expands that of >&word twice.
func (sh *shell) target(r *syntax.Redirect) word {
	list := sh.fields(r.Word)
	if r.Op == syntax.WordHdoc {
		return sh.text(r.Word)
	}
	w := word{}
	if len(list) == 1 {
		w = list[0]
	} else {
		w = anyOf(list) // an error at run time, or what a pattern stands for
	}
	switch r.Op {
	case syntax.DplIn, syntax.DplOut, syntax.RdrAll, syntax.AppAll:
		if strings.ContainsAny(w.Text, "$`(") || onlyExpansions(r.Word) && len(r.Word.Parts) > 0 {
			sh.a.unsure("an expansion in the target of a redirection of descriptors")
			if strings.ContainsAny(w.Text, "$`(") {
				sh.a.unfollowed("a target that is expanded twice: " + w.Text)
			}
		}
	}
	return w
}

// duplicate is <&word and >&word. Bash takes <&-word as closing a descriptor, and then a command.
func (sh *shell) duplicate(r *syntax.Redirect, target word, descriptor string, used *redirected) {
	name := strings.TrimSuffix(target.Text, "-")
	switch {
	case strings.HasPrefix(target.Text, "-") && (len(target.Text) > 1 || target.Dynamic):
		sh.a.script.Parsed = false
		sh.a.script.Error = "a descriptor is closed with a word glued to it"
	case target.Text == "-" || name != "" && strings.Trim(name, "0123456789") == "":
		switch {
		case r.Op == syntax.DplIn && (descriptor == "" || descriptor == "0"):
			sh.in = &stream{Stdin: Stdin{Kind: "file"}}
		case r.Op == syntax.DplOut && name != "1" && (descriptor == "" || descriptor == "1"):
			sh.out = nil
		}
	default:
		used.writes = append(used.writes, sh.write(target, "redirect", &sink{})...)
		sh.out = nil
	}
}

func (sh *shell) redirectOut(op syntax.RedirOperator, target word, descriptor string, used *redirected) {
	file := &sink{known: !sh.uncertain}
	if op == syntax.AppOut || op == syntax.AppAll {
		file.known = false
		if old := sh.a.files[sh.absolute(target)]; old != nil {
			file = old.copy()
		}
	}
	used.writes = append(used.writes, sh.write(target, "redirect", file)...)
	if descriptor != "" && descriptor != "1" {
		file.known = false
		return
	}
	if !slices.Contains([]string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}, target.Text) {
		sh.out = file
	}
}

// openFile returns the stream of a file. The text of a file that the script has made may be known.
func (sh *shell) openFile(w word) *stream {
	if f := sh.created(w); f != nil {
		s := f.stream("file")
		if strings.HasPrefix(w.Text, "/dev/fd/") {
			s.Kind = "pipe"
		}
		s.File = w.Text
		return s
	}
	if slices.Contains(standardInput, w.Text) {
		return sh.in
	}
	return &stream{Stdin: Stdin{Kind: "file", File: w.Text, Known: w.Text == "/dev/null" && !w.Dynamic,
		From: w.from}}
}
