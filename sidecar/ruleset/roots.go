package ruleset

import (
	"fmt"
	"os"
	slashes "path"
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// noHome is the home folder of a user without one.
const noHome = "/nonexistent"

// roots sets the folders of a paths.yaml. What it omits comes from base.
func (l *loader) roots(r rootsRule, to, base *author) {
	var out paths.Roots
	if base != nil {
		out, to.workspaceSet, to.sameHome, to.learn = base.roots, base.workspaceSet, base.sameHome, base.learn
	}
	home, err := os.UserHomeDir()
	if err != nil || home == "/" || !strings.HasPrefix(home, "/") { // Windows: the gateway is elsewhere
		home = noHome
	}
	if out.Home == "" {
		out.Home, to.sameHome = home, true
	}
	if r.Home != nil {
		out.Home, _ = l.folder(*r.Home, home)
		to.sameHome = r.Home.Value == "~"
	}
	if r.Workspace != nil {
		out.Cwd, to.workspaceSet = l.folder(*r.Workspace, out.Home)
		to.workspaceLocked = base != nil && to.workspaceSet
	} else if out.Cwd == "" {
		out.Cwd = out.Home + "/.openclaw/workspace"
	}
	if r.Learn != nil {
		to.learn = l.sentences(*r.Learn)
	}
	for _, list := range []struct {
		given *[]rulefile.Text
		to    *[]string
	}{{r.Write, &out.Write}, {r.Read, &out.Read}, {r.ReadFiles, &out.ReadFiles}, {r.Look, &out.Look},
		{r.Own, &out.Own}, {r.Secret, &out.Secret}} {
		if list.given == nil {
			continue
		}
		*list.to = nil
		for _, t := range *list.given {
			folder, _ := l.folder(t, out.Home)
			if folder == "/" && list.to == &out.Write {
				l.reject(t,
					"/ is the whole machine, and cannot be a folder of the agent",
					"name the folders that it may write")
			}
			*list.to = append(*list.to, folder)
		}
	}
	if to.profile == "strict" {
		out.Look = nil
	}
	if r.Write != nil || r.Workspace != nil || base == nil {
		out.Write = append([]string{out.Cwd}, out.Write...)
	}
	if base == nil || r.Own != nil || r.Secret != nil {
		out.Own = slices.Concat(out.Own, out.Secret)
	}
	to.roots = out
	to.roots = to.rootsIn([]string{out.Cwd})
}

// rootsIn returns the roots of an agent that works in other folders, of which the first is the workspace. In
// the home folder of another user, the agent runs as that user.
func (a *author) rootsIn(folders []string) paths.Roots {
	r := a.roots
	if home := paths.HomeOf(folders[0]); home != "" && !strings.HasPrefix(folders[0], r.Home+"/") {
		r = a.rootsOf(r, home)
	}
	r.Cwd = folders[0]
	r.Write = slices.Concat(folders, r.Write[1:]) // the first is the workspace
	return r
}

// rootsOf returns roots for an agent that runs as the user with this home folder, which ~ means. A home
// folder that paths.yaml spells out stays.
func (a *author) rootsOf(r paths.Roots, home string) paths.Roots {
	if !a.sameHome || home == r.Home {
		return r
	}
	return r.Of(home)
}

// withDefault matches ${NAME} and ${NAME:-default}.
var withDefault = regexp.MustCompile(`\$\{([A-Za-z_]\w*)(:-[^}]*)?\}`)

// folder returns a path of paths.yaml, absolute and clean. It may begin with ~. explicit is false if it is
// only the default of an unset variable.
func (l *loader) folder(t rulefile.Text, home string) (path string, explicit bool) {
	explicit = true
	path = withDefault.ReplaceAllStringFunc(t.Value, func(m string) string {
		name, otherwise, given := strings.Cut(m[2:len(m)-1], ":-")
		value := os.Getenv(name)
		if value == "" && !given {
			l.report(t.All(), rulefile.CodeRef, fmt.Sprintf("the environment variable %s is not set", name),
				"set it, or write ${"+name+":-the folder to take then}")
		}
		if value == "" {
			explicit = false
			return otherwise
		}
		return value
	})
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		path = home + rest
	}
	if path != "" && path[0] != '/' {
		l.reject(t, path+" is not an absolute path", "begin it with / or ~")
	}
	if !strings.HasPrefix(path, "/") {
		return noHome, false
	}
	return slashes.Clean(path), explicit
}
