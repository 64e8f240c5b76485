package shell

import (
	"path"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// patched adds the files that a patch changes whose text stands in the script.
func (sh *shell) patched(cmd *Command, e program.Effect, c call) {
	if !e.Patch {
		return
	}
	texts := []string{sh.in.Text}
	for _, t := range e.Touches {
		if f := sh.made(word{Word: t.Word}); f != nil && t.Op == string(paths.Read) {
			texts = append(texts, f.text.String())
		}
	}
	for _, text := range texts {
		for _, t := range paths.Patched(text) {
			w := c.folder(e)
			if w.Text = path.Join(w.Text, t.Path); path.IsAbs(t.Path) {
				w = literal(t.Path)
			}
			if uses := sh.use(t.Op, w, "patch"); t.Op == paths.Write {
				cmd.Writes = append(cmd.Writes, uses...)
			} else {
				cmd.Deletes = append(cmd.Deletes, uses...)
			}
		}
	}
}

// spoiled marks a program that throws away the changes of a file: one that the disk shows, or the
// script has made. Where the disk cannot be seen, the look of its name decides.
func (sh *shell) spoiled(cmd *Command, e program.Effect, c call) {
	for _, w := range e.Spoils {
		folder := sh.absolute(c.folder(e))
		at := absolute(w.Text, folder)
		if standing, seen := sh.a.guard.There(folder); folder == "" || !seen || !standing {
			if fileName().MatchString(w.Text) {
				cmd.tag("discard")
			}
		} else if there, _ := sh.a.guard.There(at); there || sh.a.files[at] != nil || sh.a.folders[at] {
			cmd.tag("discard")
		}
	}
}

// fileName is how a file looks, and no version such as v1.2.x.
var fileName = lazyregexp.New(`[^\d/.]\.[A-Za-z]\w{0,4}$`)
