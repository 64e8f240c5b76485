package shell

import (
	"path"
	"regexp"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// patched adds the files that a patch changes whose text stands in the script. A program of which
// nothing else says what it changes may change any file, where the text is not all known.
func (sh *shell) patched(cmd *Command, e program.Effect, c call) {
	if !e.Patch && len(e.Patches) == 0 {
		return
	}
	var texts []string
	known := true
	if e.Patch {
		texts, known = append(texts, sh.in.Text), sh.in.Known
	}
	for _, w := range e.Patches {
		texts, known = append(texts, w.Text), known && !w.Dynamic
	}
	for _, t := range e.Touches {
		if f := sh.made(word{Word: t.Word}); f != nil && t.Op == string(paths.Read) {
			texts = append(texts, f.text.String())
		}
	}
	write := func(op paths.Op, w word) {
		if uses := sh.use(op, w, "patch"); op == paths.Write {
			cmd.Writes = append(cmd.Writes, uses...)
		} else {
			cmd.Deletes = append(cmd.Deletes, uses...)
		}
	}
	for _, text := range texts {
		touched := paths.Patched(text)
		known = known && len(touched) > 0
		for _, t := range touched {
			w := c.folder(e)
			if w.Text = path.Join(w.Text, t.Path); path.IsAbs(t.Path) {
				w = literal(t.Path)
			}
			write(t.Op, w)
		}
	}
	if !known && !e.Changes && len(e.Touches) == 0 {
		write(paths.Write, word{Word: program.Word{Dynamic: true}})
	}
}

// spoiled marks a program that throws away the changes of a file: one that the disk shows, or the
// script has made. Where the disk cannot be seen, the look of its name decides.
func (sh *shell) spoiled(cmd *Command, e program.Effect, c call) {
	for _, w := range e.Spoils {
		folder := sh.absolute(c.folder(e))
		at := absolute(w.Text, folder)
		if standing, seen := sh.a.guard.There(folder); folder == "" || !seen || !standing {
			if fileName.MatchString(w.Text) {
				cmd.tag("discard")
			}
		} else if there, _ := sh.a.guard.There(at); there || sh.a.files[at] != nil || sh.a.folders[at] {
			cmd.tag("discard")
		}
	}
}

// fileName is how a file looks, and no version such as v1.2.x.
var fileName = regexp.MustCompile(`[^\d/.]\.[A-Za-z]\w{0,4}$`)
