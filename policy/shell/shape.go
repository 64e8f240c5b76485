package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// listed is what names fit that a program has listed: files of the workspace.
const listed = "./listed"

// shape says of a word that is not known what its text fits: numbers and dates in a name
// are a star, which has no slash. A word that is nothing but a listed name is listed.
func (sh *shell) shape(out *word, w *syntax.Word, x *expansion) {
	if fits, ok := sh.fits(w.Parts, x); ok {
		out.Fits = fits
		out.Begins = out.Begins || fits == listed
	}
}

func (sh *shell) fits(parts []syntax.WordPart, x *expansion) (text string, ok bool) {
	for _, p := range parts {
		s, ok := sh.partFits(p, x)
		if !ok || s == listed && len(parts) > 1 || s != listed && strings.ContainsAny(strings.ReplaceAll(s, "*", ""), "\\?[{~\n ") {
			return "", false
		}
		text += s
	}
	return text, true
}

func (sh *shell) partFits(p syntax.WordPart, x *expansion) (text string, ok bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		return p.Value, !strings.Contains(p.Value, "*")
	case *syntax.SglQuoted:
		return p.Value, !p.Dollar && !strings.Contains(p.Value, "*")
	case *syntax.DblQuoted:
		return sh.fits(p.Parts, x)
	case *syntax.ArithmExp:
		return "*", true
	case *syntax.CmdSubst:
		out := x.outputs[p]
		switch {
		case out == nil || len(out.places) > 0:
			return "", false
		case out.known:
			s := strings.TrimRight(out.text.String(), "\n")
			return s, !strings.Contains(s, "*")
		}
		return out.fits, out.fits != ""
	case *syntax.ParamExp:
		return sh.parameterFits(p)
	}
	return "", false
}

// parameterFits: of $x and ${x}, without anything done to them.
func (sh *shell) parameterFits(p *syntax.ParamExp) (text string, ok bool) {
	if p.Param != nil && p.Param.Value == "TMPDIR" && p.Exp != nil && p.Exp.Op == syntax.DefaultUnsetOrNull && p.Exp.Word.Lit() == "/tmp" {
		_, set := sh.get("TMPDIR")
		return "/tmp", !set // where it is set, to another folder like it
	}
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil {
		return "", false
	}
	name := p.Param.Value
	v, set := sh.get(name)
	switch {
	case !set && slices.Contains(numbers, name):
		return "*", true
	case name == "PWD" && sh.dir.known && len(sh.dir.or) == 0:
		return sh.dir.path, !strings.Contains(sh.dir.path, "*")
	case !set || v.Kind != expand.String:
		return "", false
	case v.unknown:
		return v.fits, v.fits != ""
	}
	return v.Str, !strings.Contains(v.Str, "*")
}

// numbers are variables that bash sets, and that hold a number.
var numbers = []string{"$", "!", "RANDOM", "SECONDS", "EPOCHSECONDS", "PPID", "UID", "EUID", "BASHPID"}

// outputFits is what each word fits that a program writes.
func (sh *shell) outputFits(name string, e program.Effect, c call) string {
	args := texts(c.args())
	switch {
	case slices.ContainsFunc(c.args(), word.vague):
	case name == "date" && len(args) == 1 && dateFormat().MatchString(args[0]),
		name == "nproc" && len(args) == 0,
		name == "git" && slices.Equal(args, []string{"rev-parse", "--short", "HEAD"}),
		name == "git" && slices.Equal(args, []string{"rev-parse", "HEAD"}):
		return "*"
	}
	if sh.lists(name, e, args) || sh.in.fits == listed && len(sh.in.places) == 0 && passesLines(name, e) {
		if u := sh.use(paths.Read, literal("."), ""); len(u) == 1 && (u[0].Class == paths.Workspace || u[0].Class == paths.WorkspaceRoot) {
			return listed
		}
	}
	return ""
}

var dateFormat = lazyregexp.New(`^\+([A-Za-z0-9_.-]|%[YmdHMSsFjNy])+$`)

// lists tells whether a program only names files below its folder.
func (sh *shell) lists(name string, e program.Effect, args []string) bool {
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
