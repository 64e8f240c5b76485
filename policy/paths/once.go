package paths

// Once gives links that look at each place once. The folders of one decision have most of
// their way in common, and all of it should be about the same disk. It is for that
// decision, and not safe for concurrent use.
func Once(l Links) Links { return &once{Links: l, seen: make(map[string]look, 8)} }

type once struct {
	Links
	seen map[string]look
}

// look is what was found at a place.
type look struct {
	Entry
	err error
}

// Look looks at a place, once.
func (o *once) Look(p string) (Entry, error) {
	found, known := o.seen[p]
	if !known {
		found.Entry, found.err = o.Links.Look(p)
		o.seen[p] = found
	}
	return found.Entry, found.err
}
