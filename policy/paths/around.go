package paths

import (
	"slices"
	"strings"
)

// foreign says whether a place is in the home folder of another user.
func (g Guard) foreign(p string) bool {
	home := HomeOf(p)
	return g.Roots.Homes && home != "" && !within(p, g.Roots.Home) && !within(g.Roots.Home, home)
}

// around says whether a place may be read because it is in a folder of Roots.Look. A
// folder that private places are known to be in does not count, since who reads a folder
// may read all that is in it. Nor does what its names or its owner make private.
func (g Guard) around(at *place) bool {
	p := at.path
	inside := func(o string) bool { return within(o, p) }
	if inside(g.Roots.Home) || slices.ContainsFunc(g.Roots.Own, inside) || absolute().leads(fold(p)[1:]) {
		return false
	}
	if strings.Contains(fold(p)+"/", "/.git/") { // its config may hold a token; git itself may look
		return false
	}
	home := g.home(p)
	// logs are closed to others by habit
	if home == "" && at.shut && !within(p, "/var/log") || private(p[len(home):]) {
		return false
	}
	return slices.ContainsFunc(g.Roots.Look, func(l string) bool {
		return within(p, l) && (home == "" || !applications(p, home) || len(l) > len(home) && within(l, home))
	})
}

// applications says whether a place in a home folder is where programs keep what they
// know, credentials and mail among it: a hidden folder or file, and their like on other systems.
func applications(p, home string) bool {
	rest := strings.ToLower(strings.TrimPrefix(p[len(home):], "/"))
	first, _, _ := strings.Cut(rest, "/")
	switch first {
	case "library", "appdata", "snap", "mail", "maildir", "mbox", "dead.letter", "thunderbird", "monero",
		"electrum", "bitcoin", "postman", "google-cloud-sdk", "virtualbox vms":
		return true
	}
	return strings.HasPrefix(first, ".")
}

// HomeOf is the home folder around a place by where systems keep them; empty: none.
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
