package shell

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// viaCwd is the Via of the folder that a program works in if no argument names it.
const viaCwd = "cwd"

// addFolders adds what lies in folders that a program reads as a whole. The folder that it works in counts as
// an operand if it has no others, as in ls, git log and du, and for programs with subcommands. The folder
// where the script began is not added.
func (sh *shell) addFolders(cmd *Command, e program.Effect, c call) {
	if e.Recursive || e.Is("lists") {
		for _, u := range cmd.Reads {
			if !strings.HasPrefix(u.Via, "-") && !u.Glob {
				cmd.Reads = append(cmd.Reads, u.Below())
			}
		}
	}
	begun := e.Folder == nil && sh.dir.known && len(sh.dir.alternatives) == 0 &&
		sh.dir.path == sh.a.guard.Roots.Cwd
	if begun || slices.Contains(e.Tags, "wrapper") || e.Sub == "" && (e.ReadsIn || len(e.Fetches) > 0 ||
		readsFiles(e)) {
		return
	}
	where := c.folder(e)
	if e.Folder == nil && !sh.dir.known && sh.dir.pattern != "" {
		where = word{Word: program.Word{Text: sh.dir.pattern, Glob: true}}
	}
	for i, u := range sh.use(paths.Read, where, viaCwd) {
		if i > 0 && u.Class == paths.Home { // where it is only if a cd has failed
			continue
		}
		cmd.Reads = append(cmd.Reads, u, u.Below())
	}
}

// folderPattern returns a pattern that a folder matches: that of cd "$d" in a loop over */. It is empty if
// nothing is known.
func (sh *shell) folderPattern(w word) string {
	pattern := w.Text
	if w.Dynamic {
		pattern = w.Fits
	}
	if pattern == "" || pattern == listedName || !strings.HasPrefix(pattern, "/") && !sh.dir.known {
		return ""
	}
	return absolute(pattern, sh.dir.path)
}

// readsFiles reports whether operands are files.
func readsFiles(e program.Effect) bool {
	return slices.ContainsFunc(e.Touches,
		func(t program.Touch) bool { return !strings.HasPrefix(t.Via, "-") })
}
