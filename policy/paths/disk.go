package paths

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// There reports whether something exists at a path; seen is false if the disk does not tell.
func (g Guard) There(p string) (there, seen bool) {
	if g.Links == nil || !strings.HasPrefix(p, "/") {
		return false, false
	}
	e, err := g.Links.Look(p)
	return e.there(), err == nil || isMissing(err)
}

// isMissing reports whether nothing exists at a path.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Names returns the names in a folder. seen is false if the disk does not tell, if there is no folder, or if
// there are too many.
func (g Guard) Names(folder string) (names []string, seen bool) {
	if g.Links == nil || folder == "" {
		return nil, false
	}
	entries, err := g.Links.List(folder, maxBelow)
	if err != nil || len(entries) >= maxBelow {
		return nil, false
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, true
}

// Guessed makes names that only look like paths, such as /api and //app:lib, Dynamic if the disk has no such
// folder under /. They are paths as soon as that folder exists, in which a file could be made, or as a link
// leads anywhere.
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

// Stands reports whether the disk shows a regular file at a known place.
func (g Guard) Stands(u Use) bool {
	if g.Links == nil || u.Resolved == "" {
		return false
	}
	there, err := g.Links.Look(u.Resolved)
	return err == nil && there.Mode.IsRegular()
}

// Once returns links that look at each place once: the folders of one decision share most of their path, and
// should be about the same state of the disk. It is not safe for concurrent use.
func Once(l Links) Links { return &once{Links: l, seen: make(map[string]look, 8)} }

type once struct {
	Links
	seen map[string]look
}

type look struct {
	Entry
	err error
}

func (o *once) Look(p string) (Entry, error) {
	found, known := o.seen[p]
	if !known {
		found.Entry, found.err = o.Links.Look(p)
		o.seen[p] = found
	}
	return found.Entry, found.err
}
