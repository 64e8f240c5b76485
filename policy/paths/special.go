package paths

import (
	"slices"
	"strings"
)

// special returns the class of a path by its names; empty: nothing in it is special. alike reports whether a
// name is another spelling of a special one. A special folder around a root does not count, since a person
// chose the root.
func (g Guard) special(at *place, root string, write bool) (class string, alike bool) {
	p := at.path
	switch {
	case inPlaces(g.Roots.Secret, p, root):
		class = Secret
	case inPlaces(g.Roots.Own, p, root):
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
		c := classAt(e.class(at.op), start == home, write)
		if c != "" && (class == "" || stricter(c, class)) {
			class = c
		}
	}
	e, n := absolute().find(folded[1:])
	if e != nil && n > outer && (class == "" || stricter(e.class(at.op), class)) {
		class = e.class(at.op)
	}
	git := "" // only the outermost store counts, and the outermost bare one
	for start, rest := 0, folded[1:]; rest != ""; start++ {
		e, n = anywhere().find(rest)
		take(e, start, n)
		name, more, inner := strings.Cut(rest, "/")
		named := strings.HasSuffix(name, ".git") && git != ".git" && (git == "" || name == ".git")
		if named || git == "" && write && inner && start+1 >= outer && at.op != Read &&
			g.isGitStore(firstParts(p, start+1)) {
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

// isGitStore reports whether git takes a folder for a repository, whatever its name.
func (g Guard) isGitStore(folder string) bool {
	return g.Links != nil && !slices.ContainsFunc([]string{"/HEAD", "/objects", "/refs"},
		func(name string) bool {
			there, _ := g.There(folder + name)
			return !there
		})
}

// firstParts returns the first parts of a path.
func firstParts(p string, parts int) string {
	for i := range len(p) {
		if p[i] == '/' {
			if parts--; parts < 0 {
				return p[:i]
			}
		}
	}
	return p
}

// classAt adapts the class of a special name to its place. A secret in a workspace belongs to the project;
// what tools run by themselves runs there or, directly in a home folder, for the whole account.
func classAt(class string, home, write bool) string {
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

// inPlaces reports whether a path is in one of the places, and not in a root inside it.
func inPlaces(places []string, p, root string) bool {
	return slices.ContainsFunc(places, func(o string) bool {
		return within(p, o) && !(len(root) > len(o) && within(root, o))
	})
}

// home returns the home folder around a path: the agent's, or one where systems keep them; empty: none.
func (g Guard) home(p string) string {
	if within(p, g.Roots.Home) {
		return g.Roots.Home
	}
	return HomeOf(p)
}

// homeDepth is how many parts the home folder around a path has; -1: none.
func (g Guard) homeDepth(p string) int {
	if home := g.home(p); home != "" {
		return depth(home)
	}
	return -1
}
