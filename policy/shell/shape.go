package shell

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// listed is what names fit that a program has listed: files of the workspace.
const listed = "./listed"

// outputFits is what each word fits that a program writes.
func (sh *shell) outputFits(name string, e program.Effect, c call) string {
	args := texts(c.args())
	switch {
	case slices.ContainsFunc(c.args(), word.vague):
	case name == "date" && len(args) == 1 && dateFormat().MatchString(args[0]),
		name == "git" && slices.Equal(args, []string{"rev-parse", "--short", "HEAD"}),
		name == "git" && slices.Equal(args, []string{"rev-parse", "HEAD"}):
		return "*"
	}
	if !lists(name, e, args) && !(sh.in.fits == listed && passesLines(name, e)) {
		return ""
	}
	for _, w := range append(touched(e, paths.Read), literal(".")) {
		for _, u := range sh.use(paths.Read, w, "") {
			if u.Class != paths.Workspace && u.Class != paths.WorkspaceRoot {
				return ""
			}
		}
	}
	return listed
}

var dateFormat = lazyregexp.New(`^\+([A-Za-z0-9_.-]|%[YmdHMSsFjNy])+$`)

// printsNumbers tells whether all words that a program writes are numbers.
func printsNumbers(name string, e program.Effect, args []word) bool {
	if slices.ContainsFunc(args, func(w word) bool { return w.Glob || w.Dynamic && !w.number && !w.Begins }) {
		return false
	}
	line := strings.Join(append([]string{name}, texts(args)...), "\x00")
	return counting().MatchString(line) && !e.Recursive
}

// counting are commands that print numbers, with NUL between their words.
var counting = lazyregexp.New(strings.ReplaceAll(`^(wc -[lcwm]|date \+(%-?[sYjHMSmdN])+|nproc|id -[ug]|stat -c %[sYXahiug]( [^- ][^ ]*)+|seq( [0-9]*)+`+
	`|git rev-list --count( [^- ][^ ]*)+|grep -ci?( [^- ][^ ]*){1,2})$`, " ", `\x00`))

// lists tells whether a program only names files below its folder.
func lists(name string, e program.Effect, args []string) bool {
	if len(e.Runs) > 0 || slices.ContainsFunc(e.Operands, func(w program.Word) bool { return strings.Contains(w.Text, "..") }) {
		return false
	}
	has := func(flags ...string) bool {
		return slices.ContainsFunc(flags, func(f string) bool { return slices.Contains(e.Flags, f) || slices.Contains(args, f) })
	}
	switch name {
	case "find":
		return !slices.ContainsFunc(args, func(s string) bool {
			return strings.HasPrefix(s, "-printf") || strings.HasPrefix(s, "-f") || s == "-ls"
		})
	case "fd", "fdfind":
		return !has("--format", "-l", "--list-details")
	case "ls":
		return !slices.ContainsFunc(e.Flags, func(f string) bool { return len(f) != 2 || !strings.Contains("1AatrSRdc", f[1:]) })
	case "rg":
		return has("--files", "-l", "--files-with-matches") && !has("-r", "--replace")
	case "grep":
		return has("-l", "--files-with-matches") && !has("--label")
	case "git":
		if len(args) == 0 || args[0] != e.Sub || has("--no-index", "--format", "-s", "--stage", "--output") {
			return false
		}
		return e.Sub == "ls-files" || e.Sub == "diff" && has("--name-only") || e.Sub == "grep" && has("-l", "--files-with-matches", "--name-only")
	}
	return false
}

// passesLines tells whether a program writes whole lines of its standard input, and
// nothing else.
func passesLines(name string, e program.Effect) bool {
	allowed := ""
	switch name {
	case "sort":
		allowed = "-r -u -n -R -f -V -z"
	case "head", "tail":
		allowed = "-n -q"
	case "grep":
		allowed = "-v -E -i -F -x -w -e -P"
	case "uniq", "cat":
	default:
		return false
	}
	for _, f := range e.Flags {
		if !slices.Contains(strings.Fields(allowed), f) && strings.Trim(f, "-0123456789") != "" {
			return false
		}
	}
	return len(e.Touches) == 0
}
