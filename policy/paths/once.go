package paths

import "io/fs"

// Once gives links that look at each place once. The folders of one decision have most of
// their way in common, and all of it should be about the same disk. It is for that
// decision, and not safe for concurrent use.
func Once(l Links) Links { return &once{Links: l, seen: make(map[string]look, 32)} }

type once struct {
	Links
	seen map[string]look
}

// look is what was found at a place.
type look struct {
	info fs.FileInfo
	err  error
}

// Lstat looks at a place, if nobody has.
func (o *once) Lstat(p string) (fs.FileInfo, error) {
	found, known := o.seen[p]
	if !known {
		found.info, found.err = o.Links.Lstat(p)
		o.seen[p] = found
	}
	return found.info, found.err
}
