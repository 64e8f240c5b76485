package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// severed takes the calls in v[from:], a value that the reply ends in. The complete ones leave. The one
// that was cut is refused, even where only brackets are missing: more arguments may have been to come, and
// a tool must not get half a document. Then the model is asked again. It is false, and nothing has
// happened, where that need not be a call, and in thoughts, where only whole calls count.
func (t *text) severed(st *Strategy, v string, from int) bool {
	got, half, ok := t.envelopeOf(st).Torn(t.r.c, strings.Clone(v[from:]), t.r.facts.MaxDepth, t.first)
	if !ok || t.field == Reasoning || !mayBe(Object, t.atEnd(v)) ||
		!t.allowed(st, from, len(v), v[from:]) {
		return false
	}
	if len(got.List)+len(half) == 0 {
		t.note(st, from, len(v), Dropped, "the reply ends before a call")
	}
	t.takeAll(st, from, len(v), got, tools.Ending{})
	for _, c := range half {
		t.cutOff(st, v, from, c.Name)
	}
	return true
}

// cutOff refuses the call in v[from:], which the reply ends in.
func (t *text) cutOff(st *Strategy, v string, from int, name string) {
	const why = "the reply ends inside the call"
	t.note(st, from, len(v), Refused, why)
	t.r.refuse(tools.Refusal{Code: tools.Truncated, Name: name,
		Text: strings.Clone(v[from:min(len(v), from+maxQuote)]), Why: why})
}
