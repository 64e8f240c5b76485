package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// harmless tells whether a variable that can name a program or load code does not with
// what it was just set to.
func (sh *shell) harmless(a *syntax.Assign, name string) bool {
	if a.Naked || a.Index != nil || a.Array != nil {
		return false
	}
	if name == "PATH" {
		return !a.Append && addsSystemFolders(a.Value)
	}
	v, ok := sh.get(name)
	return ok && !v.unknown && program.Harmless(name, v.Str)
}

// addsSystemFolders tells whether the value of PATH is the old one and folders in which
// only the system's programs are, in any order.
func addsSystemFolders(w *syntax.Word) bool {
	if w == nil {
		return false
	}
	text, ok := pathText(w.Parts)
	folders := strings.Split(text, ":")
	old := 0
	for _, f := range folders {
		switch {
		case f == "$PATH":
			old++
		case !strings.HasPrefix(f, "/usr/") && f != "/bin" && f != "/sbin", strings.Contains(f, ".."), strings.ContainsAny(f, "$~*?[\\"):
			return false
		}
	}
	return ok && old == 1
}

// pathText is a value in which nothing but $PATH is to be expanded.
func pathText(parts []syntax.WordPart) (text string, ok bool) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			text += p.Value
		case *syntax.SglQuoted:
			text += p.Value
			if p.Dollar || strings.Contains(p.Value, "$") {
				return "", false
			}
		case *syntax.DblQuoted:
			s, ok := pathText(p.Parts)
			if text += s; !ok {
				return "", false
			}
		case *syntax.ParamExp:
			if p.Param == nil || p.Param.Value != "PATH" || p.Index != nil || p.Length || p.Excl || p.Slice != nil || p.Repl != nil || p.Exp != nil {
				return "", false
			}
			text += "$PATH"
		default:
			return "", false
		}
	}
	return text, true
}
