package parse

// A reply without reasoning may begin with a thought whose header the server
// ate: only the Harmony token that ends it shows what it was. So the first bytes
// of unmarked text are held as a lead, and whatever goes beyond them is text.

// flow lets s leave as text, unless it is still a lead or follows an open call.
func (t *text) flow(s string) {
	t.past.add(s)
	switch {
	case s == "":
	case t.after == afterOpen:
		t.note(nil, 0, len(s), Dropped, "follows a call that was not answered yet")
	case t.leading(len(s)):
		t.lead = append(t.lead, s...)
	default:
		t.settle(Text)
		t.emit(Text, s)
	}
}

// leading says that the lead is still held behind n more bytes.
func (t *text) leading(n int) bool { return t.held && len(t.lead)+n <= t.r.s.lead }

// settle decides what the lead is.
func (t *text) settle(k EventKind) {
	if !t.held {
		return
	}
	t.held = false
	if len(t.lead) == 0 {
		return
	}
	if k == Thought {
		t.r.step(t.r.s.harmony, Step{Field: t.field, To: len(t.lead), Outcome: Thinking, Note: "unmarked text before the first Harmony token"})
	}
	t.r.emit(k, string(t.lead))
	t.lead = nil
}

// settleLead decides about unmarked text before a header. A body whose own
// header was lost runs right up to the next token; prose ends with a blank.
func (t *text) settleLead() {
	k := Thought
	if n := len(t.lead); n > 0 && isSpace(t.lead[n-1]) {
		k = Text
	}
	t.settle(k)
}
