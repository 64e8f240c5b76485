package shell

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// viaCwd is the Via of the folder that a program works in, where no argument names one.
const viaCwd = "cwd"

// below is all that is in the folders that a program reads as a whole. One that it works in
// counts as if it were an operand: ls, git log and du need none. What has operands says by
// them what it reads, but for programs with subcommands, which look around. The folder where
// all began is as it is.
func (sh *shell) below(cmd *Command, e program.Effect, c call) {
	if e.Recursive || e.Is("lists") {
		for _, u := range cmd.Reads {
			if !strings.HasPrefix(u.Via, "-") && !u.Glob {
				cmd.Reads = append(cmd.Reads, u.Below())
			}
		}
	}
	begun := e.Folder == nil && sh.dir.known && len(sh.dir.or) == 0 && sh.dir.path == sh.a.guard.Roots.Cwd
	if begun || slices.Contains(e.Tags, "wrapper") || e.Sub == "" && (e.ReadsIn || len(e.Fetches) > 0 ||
		named(e)) {
		return
	}
	where := c.folder(e)
	if e.Folder == nil && !sh.dir.known && sh.dir.like != "" {
		where = word{Word: program.Word{Text: sh.dir.like, Glob: true}}
	}
	for i, u := range sh.use(paths.Read, where, viaCwd) {
		if i > 0 && u.Class == paths.Home { // where it is only if a cd has failed
			continue
		}
		cmd.Reads = append(cmd.Reads, u, u.Below())
	}
}

// folderLike is a pattern that a folder fits of which no more is known: cd "$d" in a loop
// over */. It is empty where nothing is known.
func (sh *shell) folderLike(w word) string {
	pattern := w.Text
	if w.Dynamic {
		pattern = w.Fits
	}
	if pattern == "" || pattern == listed || !strings.HasPrefix(pattern, "/") && !sh.dir.known {
		return ""
	}
	return absolute(pattern, sh.dir.path)
}

// same is a pattern if it is still the same behind a branch.
func same(before, behind string) string {
	if before != behind {
		return ""
	}
	return before
}

// named says whether operands are files.
func named(e program.Effect) bool {
	return slices.ContainsFunc(e.Touches,
		func(t program.Touch) bool { return !strings.HasPrefix(t.Via, "-") })
}
