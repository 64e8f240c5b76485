package ruleset

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// noHome is the home folder of a user without one.
const noHome = "/nonexistent"

// roots are the folders that a paths.yaml names. What it leaves out is as the base has it.
func (l *loader) roots(r rootsRule, base *author) paths.Roots {
	var out paths.Roots
	if base != nil {
		out = base.roots
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = noHome
	}
	if out.Home == "" {
		out.Home = home
	}
	if r.Home != nil {
		out.Home = l.folder(*r.Home, home)
	}
	if r.Workspace != nil {
		out.Cwd = l.folder(*r.Workspace, out.Home)
	} else if out.Cwd == "" {
		out.Cwd = filepath.Join(out.Home, ".openclaw", "workspace")
	}
	for _, list := range []struct {
		said *[]rulefile.Text
		to   *[]string
	}{{r.Write, &out.Write}, {r.Read, &out.Read}, {r.ReadFiles, &out.ReadFiles}, {r.Own, &out.Own}} {
		if list.said == nil {
			continue
		}
		*list.to = nil
		for _, t := range *list.said {
			folder := l.folder(t, out.Home)
			if folder == "/" && list.to == &out.Write && t.At.Known() {
				l.report(t.All(), rulefile.CodeValue, "/ is the whole machine, and cannot be a folder of the agent", "name the folders that it may write")
			}
			*list.to = append(*list.to, folder)
		}
	}
	if r.Write != nil || r.Workspace != nil || base == nil {
		out.Write = append([]string{out.Cwd}, out.Write...)
	}
	return out
}

// withDefault is ${NAME} and ${NAME:-what to take where it is not set}.
var withDefault = regexp.MustCompile(`\$\{([A-Za-z_]\w*)(:-[^}]*)?\}`)

// folder is a path of paths.yaml, absolute and clean. It may begin with ~.
func (l *loader) folder(t rulefile.Text, home string) string {
	path := withDefault.ReplaceAllStringFunc(t.Value, func(m string) string {
		name, otherwise, given := strings.Cut(m[2:len(m)-1], ":-")
		value := os.Getenv(name)
		if value == "" && !given && t.At.Known() {
			l.report(t.All(), rulefile.CodeRef, fmt.Sprintf("the environment variable %s is not set", name), "set it, or write ${"+name+":-the folder to take then}")
		}
		if value == "" {
			return otherwise
		}
		return value
	})
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		path = home + rest
	}
	if path != "" && !filepath.IsAbs(path) && t.At.Known() {
		l.report(t.All(), rulefile.CodeValue, path+" is not an absolute path", "begin it with / or ~")
	}
	abs, err := filepath.Abs(path)
	if path == "" || err != nil {
		return noHome
	}
	return abs
}
