package turn

import (
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

const (
	// foldAfter is how long a reply lasts before its request is folded: packing 100 KB takes a millisecond,
	// which replies that end at once shall not pay.
	foldAfter = 2 * time.Second
	// leastFolded is what is worth it, in bytes.
	leastFolded = 1 << 10
)

// folded is a request that is hardly needed any more, while its reply may last for minutes: to be sent again
// with a correction, or when a reading wants to know whether it speaks of a tag.
type folded struct{ body, came Bytes }

// fold makes the request small, once the reply has lasted for a while. Another model server may still have to
// get it where there are several, so it stays there until one of them has replied.
func (t *Turn) fold() {
	if !t.folded.body.None() || t.req != nil || len(t.body) < leastFolded ||
		time.Since(t.asking.began) < foldAfter {
		return
	}
	t.folded.body = Of(t.body)
	switch {
	case t.original == nil: // it was folded before, and not opened since
	case &t.body[0] == &t.original.Body[0]:
		t.folded.came = t.folded.body
	default:
		t.folded.came = Of(t.original.Body)
	}
	t.offered = t.catalog.Own()
	t.body, t.original = nil, nil
}

// sent is the request as the upstream gets it.
func (t *Turn) sent() []byte {
	if t.body == nil && !t.folded.body.None() {
		t.body, t.folded.body = t.folded.body.Open(), Bytes{}
	}
	return t.body
}

// asker is the request as the caller sent it.
func (t *Turn) asker() *openai.Request {
	if t.original == nil {
		again, err := openai.ParseRequest(t.folded.came.Open())
		if err != nil { // it was parsed before
			panic("parse a folded request: " + err.Error())
		}
		t.original, t.folded.came = again, Bytes{}
	}
	return t.original
}

// mentions says that the request speaks of a tag.
func (t *Turn) mentions(tag string) bool { return t.asker().Mentions(tag) }
