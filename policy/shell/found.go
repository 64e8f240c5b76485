package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// checkNames records names from a pattern or another program's list that may be options, for a program to
// which options can do harm.
func (sh *shell) checkNames(base string, e program.Effect, c call) {
	if !e.Is("injectable") {
		return
	}
	for _, w := range c.args() {
		switch {
		case w.Text == "--":
			return
		case w.Fits == listedName && w.Dynamic, w.Text == listedName && c.listed:
			sh.a.unsure(base + ": a name that was listed may be an option")
			return
		case w.Glob && strings.ContainsAny(w.Text[:1], "*?[") && !sh.namesArePlain(w.Text):
			sh.a.unsure(base + ": a name that fits " + w.Text + " may be an option")
			return
		}
	}
}

// namesArePlain reports whether the disk shows no matching name that begins with a dash.
func (sh *shell) namesArePlain(pattern string) bool {
	first, _, _ := strings.Cut(pattern, "/")
	for name := range sh.a.files {
		if strings.HasPrefix(path.Base(name), "-") {
			return false
		}
	}
	for _, folder := range append([]string{sh.cwd()}, sh.dir.alternatives...) {
		names, seen := sh.a.names(folder)
		if !seen || slices.ContainsFunc(names, func(name string) bool {
			ok, err := path.Match(first, name)
			return strings.HasPrefix(name, "-") && (ok || err != nil)
		}) {
			return false
		}
	}
	return !sh.a.fetched
}

// listing is what the disk shows of a folder.
type listing struct {
	names []string
	seen  bool
}

// names returns the names in a folder, read once.
func (a *analysis) names(folder string) ([]string, bool) {
	l, known := a.listings[folder]
	if !known {
		l.names, l.seen = a.guard.Names(folder)
		a.listings[folder] = l
	}
	return l.names, l.seen
}

// folderExists reports whether a folder surely exists: the disk shows it or the script has made it, and the
// script deletes nothing.
func (sh *shell) folderExists(folder string) bool {
	_, seen := sh.a.names(folder)
	return !sh.a.deletes && (seen || sh.a.folders[folder])
}

// resolveInstalled lets npx run a program of the workspace instead of fetching it, if the disk shows that
// program in the folder or above and the script deletes nothing.
func (sh *shell) resolveInstalled(base string, e program.Effect) program.Effect {
	if len(e.Installs) == 0 || e.Installs[0].Dynamic || e.Installs[0].Glob || e.Folder != nil ||
		!sh.dir.known || len(sh.dir.alternatives) > 0 || sh.a.deletes || sh.a.linked {
		return e
	}
	for at := sh.cwd(); at != "/"; at = path.Dir(at) {
		file := literal(path.Join(at, "node_modules/.bin", e.Installs[0].Text))
		u := sh.useFrom(paths.Run, file, at, "name")
		if u.Class != paths.Workspace {
			break
		}
		if sh.a.guard.Stands(u) {
			e.Tags = slices.DeleteFunc(slices.Clone(e.Tags),
				func(t string) bool { return t == "config-or-install" })
			argv := append([]program.Word{file.Word}, e.Installs[1:]...)
			e.Runs = append(e.Runs, program.Run{Via: base, Argv: argv, Wrapper: base, KeepStdin: true})
			break
		}
	}
	return e
}

// outsideArguments judges paths in the arguments of workspace code whose effect is unknown.
func (sh *shell) outsideArguments(cmd *Command, c call, labels bool) {
	for _, w := range c.args() {
		if w.Text == cmd.CodeFile || labels && strings.HasPrefix(w.Text, "//") {
			continue // it is judged already, or no file
		}
		if _, value, ok := strings.Cut(w.Text, "="); ok && strings.HasPrefix(w.Text, "-") {
			w.Text, w.start = value, max(0, w.start-len(w.Text)+len(value))
		}
		if !strings.HasPrefix(w.Text, "/") && !strings.HasPrefix(w.Text, "~") &&
			!slices.Contains(strings.Split(w.Text, "/"), "..") {
			continue
		}
		uses := sh.use(paths.Read, w, "argument")
		sh.a.guard.Guessed(uses)
		for _, u := range uses {
			switch u.Class {
			case paths.Workspace, paths.WorkspaceRoot, paths.Readable, paths.Null:
			default:
				sh.a.unsure("code of the workspace is given a path outside: " + w.Text)
				cmd.Reads = append(cmd.Reads, u)
			}
		}
	}
}

// bareRepository records a plain folder that git takes for a repository, whose config can run programs.
func (sh *shell) bareRepository(folder word) {
	at := sh.absolute(folder)
	if sh.a.unpacked && !slices.Contains(sh.a.guard.Roots.Write, at) {
		sh.a.unsure("git runs in a folder that an archive may have made a repository")
	}
	for ; at != "" && at != "/"; at = path.Dir(at) {
		if path.Base(at) == ".git" {
			return
		}
		names, _ := sh.a.names(at)
		has := func(name string) bool {
			p := path.Join(at, name)
			_, made := sh.a.folders[p]
			return made || sh.a.files[p] != nil || slices.Contains(names, name)
		}
		if has("HEAD") && (has("objects") || has("refs") || has("commondir")) {
			sh.a.unsure("git takes a plain folder for a repository: " + at)
		}
		if has(".git") || slices.Contains(sh.a.guard.Roots.Write, at) {
			return
		}
	}
}

// workspaceCode tags a program that runs code of the workspace, such as make: what it runs depends on the
// folder, and on files that the script may have made.
func (sh *shell) workspaceCode(cmd *Command, folder word) {
	outside := func(u paths.Use) bool { return !paths.InWorkspace(u.Class) }
	if slices.ContainsFunc(sh.use(paths.Read, folder, "folder"), outside) {
		cmd.tag("foreign-code")
	}
	for name, s := range sh.a.files {
		if s != nil && s.known && slices.Contains(lists.List("build-files"), path.Base(name)) {
			cmd.tag("runs-created-file")
			return
		}
	}
}

// markFetched records that files have been fetched, and tags what runs or reads any of them later: a link
// among them may lead to any file.
func (sh *shell) markFetched(cmd *Command, e program.Effect) {
	runs := cmd.runsWorkspaceCode()
	for name, s := range sh.a.files {
		sh.a.fetched = sh.a.fetched || runs && s != nil && slices.ContainsFunc(s.from, sh.downloads) &&
			!strings.HasPrefix(name, "/dev/")
	}
	inside := func(u paths.Use) bool { return paths.InWorkspace(u.Class) }
	switch {
	case !sh.a.fetched:
	case runs && !slices.Contains(cmd.Tags, "runs-created-file"):
		cmd.tag("runs-created-file")
	case slices.ContainsFunc(cmd.Reads, inside):
		cmd.tag("reads-fetched")
	}
	sh.a.fetched = sh.a.fetched || slices.Contains(e.Tags, "brings")
}

// runsWorkspaceCode reports whether a command runs code of a file or of the workspace.
func (c *Command) runsWorkspaceCode() bool {
	return c.CodeFile != "" || slices.Contains(c.Tags, "workspace-code") ||
		slices.Contains(c.Tags, "workspace-program")
}

// addReferred adds the files that a text on standard input names, for a program that opens them.
func (sh *shell) addReferred(cmd *Command, e program.Effect) {
	if !e.Refers {
		return
	}
	for _, name := range fileNames.FindAllString(sh.in.Text, maxReferred) {
		cmd.Reads = append(cmd.Reads, sh.use(paths.Read, literal(name), "text")...)
	}
}

// fileNames matches absolute paths, and those in a home folder.
var fileNames = regexp.MustCompile(`(?:~|\B)/[\w.@+-]+(?:/[\w.@+-]+)*`)

// maxReferred is how many names of one text are examined.
const maxReferred = 100
