package paths

import (
	"slices"
	"strings"
)

// isForeign reports whether a place is in the home folder of another user.
func (g Guard) isForeign(p string) bool {
	home := HomeOf(p)
	return g.Roots.Homes && home != "" && !within(p, g.Roots.Home) && !within(g.Roots.Home, home)
}

// isAround reports whether a folder of Roots.Look makes a place readable. A folder that holds known private
// places does not qualify, since reading it reads them, nor does a place that its names or its owner make
// private.
func (g Guard) isAround(at *place) bool {
	p := at.path
	inside := func(o string) bool { return within(o, p) }
	if inside(g.Roots.Home) || slices.ContainsFunc(g.Roots.Own, inside) || absolute().leadsTo(fold(p)[1:]) {
		return false
	}
	if strings.Contains(fold(p)+"/", "/.git/") { // its config may hold a token; git itself may look
		return false
	}
	home := g.home(p)
	// logs are closed to others by habit
	if home == "" && at.restricted && !within(p, "/var/log") || private(p[len(home):]) {
		return false
	}
	return slices.ContainsFunc(g.Roots.Look, func(l string) bool {
		return within(p, l) && (home == "" || !appData(p, home) || len(l) > len(home) && within(l, home))
	})
}

// appData reports whether a place in a home folder is where programs keep their data, with credentials and
// mail: a hidden file or folder, or its equivalent on other systems.
func appData(p, home string) bool {
	rest := strings.ToLower(strings.TrimPrefix(p[len(home):], "/"))
	first, _, _ := strings.Cut(rest, "/")
	return dataFolders()[first] || strings.HasPrefix(first, ".")
}

var dataFolders = lists.Set("data")

// HomeOf returns the home folder around a place by where systems keep them; empty: none.
func HomeOf(p string) string {
	if within(p, "/root") {
		return "/root"
	}
	for _, homes := range []string{"/home/", "/Users/"} {
		if rest, in := strings.CutPrefix(p, homes); in && !within(p, "/Users/Shared") {
			name, _, _ := strings.Cut(rest, "/")
			return homes + name
		}
	}
	return ""
}
