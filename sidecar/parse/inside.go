package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A call may stand in the body of a message that is shown, too: as JSON, in tags, in a fence. So
// such a body is read by a text of its own, which takes control tokens for text: the reader of
// the message has found those that count.

// openInside makes the reader of a body that begins now.
func (t *text) openInside() {
	t.inside = &text{}
	t.inside.init(t.r, t.field)
	t.inside.grammar, t.inside.unmarked, t.inside.first = t.grammar, true, false
}

// readInside lets the body go on with s, which begins at an offset in the field.
func (t *text) readInside(s string, at int) {
	in := t.inside
	if in.base == 0 {
		in.base = at
	}
	if !t.alias {
		s = strings.Clone(s)
	}
	in.feed(s, false)
}

// quote shows what was read as markup, and was none.
func (t *text) quote(s string) {
	in := t.inside
	if in == nil {
		t.pass(s)
		return
	}
	t.past.Add(s)
	t.mark(s)
	if !t.alias {
		s = strings.Clone(s)
	}
	t.settleInside(tools.Ended)
	in.pass(s)
	in.base += len(s)
}

// settleInside decides about all of the body so far, which ends as how says: where markup follows, nothing
// in it is cut, whatever is known of the end of the reply.
func (t *text) settleInside(how tools.End) {
	if t.inside != nil {
		ended := t.r.ended
		t.r.ended = how
		t.inside.feed("", true)
		t.r.ended = ended
	}
}

// closeInside ends the body. Behind a call in it, text would depend on a result that does not
// exist yet.
func (t *text) closeInside(how tools.End) {
	if in := t.inside; in != nil {
		t.settleInside(how)
		t.inside = nil
		t.hanging = t.hanging || in.hanging
	}
}

// marks says that Harmony markup is looked for.
func (t *text) marks() bool { return t.r.s.harmony != nil && !t.unmarked }
