package paths

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// Guessed takes back what was said of names that only look like paths, such as /api and //app:lib. If the
// disk has no such folder under /, the name may be no path at all. It is one as soon as a folder is there in
// which a file could be made, or a link leads anywhere.
func (g Guard) Guessed(uses []Use) {
	for i := range uses {
		u := &uses[i]
		if g.Links == nil || u.Class != Outside || u.Resolved == "" || u.Resolved != path.Clean(u.Path) {
			continue
		}
		top, _, _ := strings.Cut(u.Resolved[1:], "/")
		if _, err := g.Links.Look("/" + top); errors.Is(err, fs.ErrNotExist) {
			u.Class, u.Resolved = Dynamic, ""
		}
	}
}

// Stands reports whether the disk shows a file at a place that is known.
func (g Guard) Stands(u Use) bool {
	if g.Links == nil || u.Resolved == "" {
		return false
	}
	there, err := g.Links.Look(u.Resolved)
	return err == nil && there.Mode.IsRegular()
}
