package paths

import (
	"slices"
	"strings"
)

// special is the class of a path by its names, and whether a name is only another
// spelling of a special one; empty: nothing in it is special. A special folder around
// a root does not count: the root was chosen by a person.
func (g Guard) special(at *place, root string, write bool) (class string, alike bool) {
	p := at.path
	switch {
	case closed(g.Roots.Secret, p, root):
		class = Secret
	case closed(g.Roots.Own, p, root):
		class = Control
	}
	folded := fold(p)
	home, outer := g.homeDepth(p), depth(root)
	if within(p, g.Roots.Home) {
		outer = max(outer, depth(g.Roots.Home))
	}
	take := func(e *entry, start, parts int) {
		if e == nil || start+parts <= outer {
			return
		}
		if c := soften(e.of(at.op), start == home, write); c != "" && (class == "" || stricter(c, class)) {
			class = c
		}
	}
	e, n := absolute().find(folded[1:])
	if e != nil && n > outer && (class == "" || stricter(e.of(at.op), class)) {
		class = e.of(at.op)
	}
	git := "" // only the outermost store counts, and the outermost bare one
	for start, rest := 0, folded[1:]; rest != ""; start++ {
		e, n = anywhere().find(rest)
		take(e, start, n)
		name, more, inner := strings.Cut(rest, "/")
		named := strings.HasSuffix(name, ".git") && git != ".git" && (git == "" || name == ".git")
		if named || git == "" && write && inner && start+1 >= outer && at.op != Read &&
			g.store(folder(p, start+1)) {
			git = name
			take(gitKind(name, more), start, 1+strings.Count(rest, "/"))
		}
		if !inner && !(at.Mode.IsDir()) {
			take(fileKind(name), start, 1)
		}
		rest = more
	}
	return class, class != "" && folded != p && folded != strings.ToLower(p)
}

// store says whether git takes a folder for a repository, whatever its name is.
func (g Guard) store(folder string) bool {
	return g.Links != nil && !slices.ContainsFunc([]string{"/HEAD", "/objects", "/refs"},
		func(name string) bool {
			there, _ := g.There(folder + name)
			return !there
		})
}

// folder is that many parts of a path.
func folder(p string, parts int) string {
	for i := range len(p) {
		if p[i] == '/' {
			if parts--; parts < 0 {
				return p[:i]
			}
		}
	}
	return p
}

// soften gives the class of a special name for the place it stands in. A secret in a
// workspace is one of the project; what tools run by themselves does so there, or for
// the whole account where it stands directly in a home folder.
func soften(class string, home, write bool) string {
	switch {
	case class == Secret && write && !home:
		return WorkspaceSecret
	case class == Automation && home:
		return Persist
	case (class == Automation || class == VCS) && !write:
		return ""
	}
	return class
}

// closed says whether a path is in one of the places, and not in a root inside of it.
func closed(places []string, p, root string) bool {
	return slices.ContainsFunc(places, func(o string) bool {
		return within(p, o) && !(len(root) > len(o) && within(root, o))
	})
}

// home is the home folder around a path: that of the agent, or one where systems keep
// them; empty: none.
func (g Guard) home(p string) string {
	if within(p, g.Roots.Home) {
		return g.Roots.Home
	}
	return HomeOf(p)
}

// homeDepth is how many parts the home folder around a path has; -1: it is in none.
func (g Guard) homeDepth(p string) int {
	if home := g.home(p); home != "" {
		return depth(home)
	}
	return -1
}
