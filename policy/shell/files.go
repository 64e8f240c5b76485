package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// maxFolders is how many folders a shell may be in after unchecked cds.
const maxFolders = 8

// use classifies a path that a command uses, for each folder that the shell may be in.
func (sh *shell) use(op paths.Op, w word, via string) []paths.Use {
	out := []paths.Use{sh.useFrom(op, w, sh.cwd(), via)}
	if !strings.HasPrefix(w.Text, "/") {
		for _, other := range sh.dir.alternatives {
			if u := sh.useFrom(op, w, other, via); u.Class != out[0].Class {
				out = append(out, u)
			}
		}
	}
	return out
}

func (sh *shell) useFrom(op paths.Op, w word, cwd, via string) paths.Use {
	asked := paths.Word{Text: w.Text, Dynamic: w.Dynamic, Glob: w.Glob, Prefix: w.start}
	if w.Dynamic && w.Fits != "" && (op == paths.Read || op == paths.Write && w.Fits != listedName) {
		asked = paths.Word{Text: w.Fits, Glob: w.Fits != listedName}
		w.Text = w.Fits
	}
	if sh.a.linked {
		asked.Dynamic, asked.Prefix = true, 0
	}
	u := sh.a.guard.Word(op, asked, cwd, via)
	u.Path = w.Text
	return u
}

// write classifies a path that a command writes, and keeps the content.
func (sh *shell) write(w word, via string, content *sink) []paths.Use {
	if abs := sh.absolute(w); abs != "" && abs != "/dev/null" {
		sh.a.files[abs] = content
	}
	return sh.use(paths.Write, w, via)
}

// absolute returns where a word points; empty: unknown.
func (sh *shell) absolute(w word) string {
	if w.Dynamic || w.Text == "" || !strings.HasPrefix(w.Text, "/") && !sh.dir.known {
		return ""
	}
	return absolute(w.Text, sh.dir.path)
}

func absolute(p, cwd string) string {
	if strings.HasPrefix(p, "/") {
		return path.Clean(p)
	}
	return path.Join(cwd, p)
}

// created returns what the script has written to a file; nil: nothing.
func (sh *shell) created(w word) *sink {
	if abs := sh.absolute(w); abs != "" {
		return sh.a.files[abs]
	}
	return nil
}

// chdir changes the folder. If nothing checks that this worked, the shell may still be in the old one.
func (sh *shell) chdir(w word) {
	d := &sh.dir
	target, old := "", known(d.path)
	old.Dynamic = !d.known || len(d.alternatives) > 0
	if strings.HasPrefix(w.Text, "/") || d.known {
		target = absolute(w.Text, d.path)
	}
	if sure := !w.vague() && target != "" && (sh.errexit && sh.conditions == 0 ||
		sh.folderExists(target)); d.known &&
		d.path != "" && !sure {
		if d.alternatives = union(d.alternatives, []string{d.path}); len(d.alternatives) > maxFolders {
			d.known = false
		}
	}
	like := sh.folderPattern(w)
	d.pattern = ""
	if w.vague() || w.Text == "" {
		d.known, d.pattern = false, like
		return
	}
	if !strings.HasPrefix(w.Text, "/") && !d.known {
		return
	}
	d.path, d.known = target, true
	sh.set("OLDPWD", old)
}

// recordFiles records the files and folders that a program makes, with their known content, and whether it
// deletes any.
func (sh *shell) recordFiles(name string, e program.Effect, c call) {
	sh.a.unpacked = sh.a.unpacked || !e.Is("repository-settings") && slices.Contains(e.Tags, "brings")
	sh.a.deletes = sh.a.deletes || len(touched(e, paths.Delete)) > 0
	content := &sink{from: union([]string{name}, sh.in.From)}
	switch {
	case e.Is("links"):
		sh.recordLink(e.Operands)
	case e.Is("copies") && len(e.Operands) == 2:
		sh.recordCopy(e.Operands, content)
	case name == "tee":
		content.known = !sh.uncertain && !slices.Contains(e.Flags, "-a")
		content.write(sh.in.Text, sh.in.Known)
	}
	for _, w := range touched(e, paths.Write) {
		at := sh.absolute(w)
		switch {
		case at == "" || at == "/dev/null", e.Is("keeps-text") && !strings.HasPrefix(path.Base(at), "-"),
			e.Is("compiles") && sh.ownSources(e, c):
		case e.Is("makes-folders"):
			sh.a.folders[at] = sh.a.folders[at] || !sh.uncertain
		default:
			sh.a.files[at] = content
		}
	}
}

// ownSources reports whether a compiler reads only files of the workspace that the script has neither written
// nor fetched: then its output is code of the workspace. Arguments may hold names, but no code.
func (sh *shell) ownSources(e program.Effect, c call) bool {
	if e.ReadsIn || len(e.Unsure)+len(e.Runs)+len(e.Fetches) > 0 || sh.a.unpacked || sh.a.fetched {
		return false
	}
	for _, s := range sh.a.files {
		if s != nil {
			return false
		}
	}
	coded := func(w word) bool { return w.Dynamic || strings.ContainsAny(w.Text, "(){};#\"'`\\\n") }
	elsewhere := func(w word) bool {
		return slices.ContainsFunc(sh.use(paths.Read, w, ""), func(u paths.Use) bool {
			return sh.isForeign(u) && u.Class != paths.System
		})
	}
	return !slices.ContainsFunc(c.args(), coded) && !slices.ContainsFunc(touched(e, paths.Read), elsewhere)
}

// recordLink follows ln. Paths stay valid only if a link leads to a plain place in the workspace. The last
// name may be the link, or one more target.
func (sh *shell) recordLink(operands []program.Word) {
	for i, w := range operands {
		for _, u := range sh.use(paths.Write, word{Word: w}, "") {
			plain := u.Class == paths.Workspace || u.Class == paths.WorkspaceRoot && i > 0 &&
				i == len(operands)-1
			sh.a.linked = sh.a.linked || !plain || w.Dynamic || strings.Contains(w.Text, "..")
		}
	}
}

// recordCopy gives the new file the text of the old one.
func (sh *shell) recordCopy(operands []program.Word, content *sink) {
	from, to := sh.absolute(word{Word: operands[0]}), sh.absolute(word{Word: operands[1]})
	if old := sh.a.files[from]; from != "" && to != "" && old != nil {
		*content = *old.copy()
		sh.a.files[path.Join(to, path.Base(from))] = content
	}
}
