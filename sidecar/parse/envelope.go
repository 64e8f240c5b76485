package parse

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// envelope takes the calls in v[from:to]. It is false where that is none of our
// forms, or may be a quotation, or the strategy's condition does not hold.
func (t *text) envelope(st *Strategy, v string, from, to int, end tools.Ending, a Signs) bool {
	found, ok := t.unwrap(st, v[from:to], end.How == tools.Cut)
	return ok && t.takeIf(st, v, from, to, found, end, a)
}

// takeIf takes what was found in v[from:to], if its signs and the strategy's condition say so.
func (t *text) takeIf(st *Strategy, v string, from, to int, found EnvelopeFound, end tools.Ending,
	a Signs) bool {
	if !t.runs(Object, a, found.List...) || !t.allowed(st, from, to, v[from:to]) {
		return false
	}
	t.takeAll(st, from, to, found, end)
	return true
}

// allKnown says that doc holds calls, and each names an offered tool.
func (t *text) allKnown(st *Strategy, doc string) bool {
	found, ok := t.unwrap(st, doc, false)
	return ok && !slices.ContainsFunc(found.List, func(c Call) bool { return !t.r.names.Known(c.Name) })
}

// takeAll takes calls that stand in v[from:to], and what is said beside them.
func (t *text) takeAll(st *Strategy, from, to int, found EnvelopeFound, end tools.Ending) {
	if found.Reasoning+found.Said != "" {
		t.settle(Text)
		t.r.emit(Thought, found.Reasoning)
		t.r.emit(Text, found.Said)
	}
	for _, c := range found.List {
		t.offer(st, from, to, c, end, found.Repairs)
	}
	if len(found.List) == 0 && found.Answer != "" {
		t.note(st, from, to, Shown, "the answer of a guided reply")
		t.settle(Text)
		t.r.emit(Text, found.Answer)
	}
	if found.Done {
		t.note(st, from, to, Finished, "done")
		t.r.done = true
	}
}

// unwrap reads doc as calls, with the keys of a strategy. cut says that the reply ended at its
// token limit inside of doc.
func (t *text) unwrap(st *Strategy, doc string, cut bool) (EnvelopeFound, bool) {
	return t.envelopeOf(st).Read(t.r.c, doc, t.r.facts.MaxDepth, cut)
}

// envelopeOf is the envelope of a strategy: its own, or that of the JSON kind.
func (t *text) envelopeOf(st *Strategy) *Keys {
	switch {
	case len(st.Envelope.Name) > 0:
		return &st.Envelope
	case t.r.s.json != nil:
		return &t.r.s.json.Envelope
	}
	return Usual()
}
