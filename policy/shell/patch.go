package shell

import (
	"path"
	"regexp"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// addPatched adds the files that a patch in the script changes. If the text is not fully known, a program of
// which nothing else says what it changes may change any file.
func (sh *shell) addPatched(cmd *Command, e program.Effect, c call) {
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
		if f := sh.created(word{Word: t.Word}); f != nil && t.Op == string(paths.Read) {
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
		write(paths.Write, unknownWord(""))
	}
}

// tagDiscards tags a program that discards the changes of a file that the disk shows or the script has made.
// If the disk cannot be read, the look of the name decides.
func (sh *shell) tagDiscards(cmd *Command, e program.Effect, c call) {
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

// fileName matches file names, but not versions such as v1.2.x.
var fileName = regexp.MustCompile(`[^\d/.]\.[A-Za-z]\w{0,4}$`)
