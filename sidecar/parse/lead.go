package parse

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// A reply without reasoning may begin with a thought whose header the server
// ate: only the Harmony token that ends it shows what it was. So the first bytes
// of unmarked text are held as a lead, and whatever goes beyond them is text.
// Where Facts say that the server leaves headers alone, only what begins as thoughts do is
// held.

// flow lets s leave as text, unless it is still a lead or follows an open call.
func (t *text) flow(s string) {
	t.past.Add(s)
	switch {
	case s == "":
	case t.inside != nil:
		t.readInside(s, t.base)
	case t.hanging:
		t.note(nil, 0, len(s), Dropped, "follows a call that was not answered yet")
	case t.leading(len(s)) && (!t.r.facts.Intact || t.r.s.thinks(string(t.lead)+s)):
		t.lead = append(t.lead, s...)
	default:
		if t.gap {
			t.gap = false
			t.r.emit(Text, "\n\n")
		}
		t.letGo(Text)
		t.emit(Text, s)
	}
}

// leading says that the lead is still held behind n more bytes.
func (t *text) leading(n int) bool { return t.held && len(t.lead)+n <= t.r.s.lead }

// thinks says that a text begins as thoughts do, or is too short to tell.
func (s *Strategies) thinks(text string) bool {
	text = strings.ToLower(strings.TrimLeft(text, " \n"))
	return slices.ContainsFunc(s.thoughts,
		func(begin string) bool { return strings.HasPrefix(text, begin) || strings.HasPrefix(begin, text) })
}

// inLead says that v[n:] stands where a lead is held, or would be.
func (t *text) inLead(n int) bool {
	return t.leading(n) || t.r.facts.Intact && t.bare && t.base+n <= t.r.s.lead
}

// settle decides what the unmarked text was that ends here: a thought without its header
// shows that the server ate one, also where the text has long been let go.
func (t *text) settle(k EventKind) {
	if k == Thought && t.bare && !t.first {
		t.r.result.Headless = true
		t.shown = !t.held // what comes next does not continue what was let go
	}
	t.bare = false
	t.spoke = t.spoke || !t.first
	t.letGo(k)
}

// letGo ends the holding of the lead.
func (t *text) letGo(k EventKind) {
	if !t.held {
		return
	}
	t.held = false
	if len(t.lead) == 0 {
		return
	}
	if k == Thought {
		t.r.step(t.r.s.harmony, Step{Field: t.field, To: len(t.lead), Outcome: Thinking,
			Note: "unmarked text before the first Harmony token"})
	}
	t.r.emit(k, string(t.lead))
	t.lead = nil
}

// settleLead decides about unmarked text before a header. A body whose own
// header was lost runs right up to the next token; prose ends with a blank.
func (t *text) settleLead() {
	k := Thought
	if scan.IsSpace(t.before("", 0)) {
		k = Text
	}
	t.settle(k)
}
