package parse

import (
	"bytes"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// ending returns how the value being read ended. A value is open only at the end of the reply, so the
// result does not depend on when it is asked for.
func (t *text) ending() tools.Ending {
	if t.scan.End == 0 && t.scan.Stop == 0 {
		return tools.Ending{How: t.r.ended}
	}
	return tools.Ending{}
}

// allowed evaluates a strategy's condition for the candidate in v[from:to].
func (t *text) allowed(st *Strategy, from, to int, candidate string) bool {
	return t.r.allowed(st, t.field, t.base+from, t.base+to, candidate)
}

// addCandidate passes a candidate call to the catalog. v[from:to] is all of its text.
func (t *text) addCandidate(st *Strategy, v string, from, to int, c Call, end tools.Ending,
	how ...tools.Repair) bool {
	candidate := t.callHeader + v[from:to]
	t.callHeader = ""
	if !t.allowed(st, from, to, candidate) {
		return false
	}
	if several := t.several(st, c, end); len(several) > 0 {
		for _, one := range several {
			t.addCall(st, from, to, one, end, how)
		}
		return true
	}
	return t.addCall(st, from, to, c, end, how)
}

// several returns the calls in the arguments of a wrapper.
func (t *text) several(st *Strategy, c Call, end tools.Ending) []Call {
	return t.envelopeOf(st).Several(t.r.c, c, t.r.facts.MaxDepth, end.How == tools.Cut)
}

// addCall passes one call to the catalog.
func (t *text) addCall(st *Strategy, from, to int, c Call, end tools.Ending, how []tools.Repair) bool {
	end.Guessed = end.Guessed || c.Unsure
	call, refusal := t.r.c.Call(strings.Clone(c.Name), []byte(c.Args), end)
	if refusal != nil && st.Own && strings.Trim(c.Name, "0123456789") == "" { // a number in place of the name
		if fit, ok := t.r.c.Fit(c.Args, end); ok {
			call, refusal = fit, nil
		}
	}
	if refusal == nil && c.Doubt && t.r.c.Class(call.Name) != tools.Read {
		refusal = unsureRefusal(call)
	}
	return t.record(st, from, to, call, refusal, how)
}

// record adds a call, or the reason why it is none. A repeated call is made once.
func (t *text) record(st *Strategy, from, to int, call tools.Call, refusal *tools.Refusal,
	how []tools.Repair) bool {
	written := call
	if refusal == nil {
		if t.repeated(st, from, to, call) {
			return true
		}
		t.r.made.Changed(t.r.c, call)
	}
	if refusal == nil && t.r.shadowed(call) {
		refusal = &tools.Refusal{Code: tools.BadJSON, Name: call.Name, Text: string(call.Arguments),
			Why: "the header of another message stands in a text of the arguments of " + call.Name +
				"; send them without it"}
	}
	if refusal == nil && t.doubted {
		refusal = unsureRefusal(call)
	}
	if refusal == nil && t.r.result.Rests(call, t.r.c, t.r.torn) {
		refusal = &tools.Refusal{Code: tools.Behind, Name: call.Name, Text: string(call.Arguments),
			Why: refusedBefore}
	}
	if refusal == nil {
		call.Strategy, call.Confidence = st.ID, st.Confidence
		if judge := t.r.facts.Judge; judge != nil {
			if refusal = judge(&call); refusal != nil {
				t.r.made.Add(written) // said twice, it is denied once
			}
		}
	}
	if refusal != nil {
		if refusal.Code == tools.Answer {
			t.settle(Text)
			t.note(st, from, to, Shown, "an answer sent to a pseudo tool")
			t.r.emit(Text, refusal.Text)
			return false
		}
		t.note(st, from, to, Refused, refusal.Error())
		t.r.refuse(*refusal)
		return false
	}
	t.settle(Text)
	call.Repairs = append(how, call.Repairs...)
	t.note(st, from, to, Found, call.Name)
	t.r.made.Add(written)
	if t.field != native {
		t.r.spoken.Add(written)
	}
	t.r.call(call)
	return true
}

// repeated counts a call that the reply repeats.
func (t *text) repeated(st *Strategy, from, to int, call tools.Call) bool {
	if !t.r.made.Has(call) && !(t.field == native && t.r.spoken.Has(call)) {
		return false
	}
	t.note(st, from, to, Dropped, "the same call was found before")
	t.r.result.Repeated++
	return true
}

// refusedBefore is why a call behind a refused one is not made.
const refusedBefore = "a call in front of it was not made, or the reply is not whole"

// afterCall continues behind a call of n bytes. More calls may follow; text would depend on a result
// that does not exist yet.
func (t *text) afterCall(n int) (int, bool) {
	t.resumeProse(0)
	t.markUnterminated()
	t.first, t.afterMessage = true, true
	return n, false
}

// afterOwnCall continues behind a call of n bytes in the model's own format, where text is an answer.
func (t *text) afterOwnCall(n int) (int, bool) {
	t.resumeProse(0)
	t.settle(Text)
	t.startLine()
	return n, false
}

// markUnterminated notes that a call came without a terminator. Text in front of it is no thought, as
// the token that would say so cannot come any more.
func (t *text) markUnterminated() {
	t.settle(Text)
	t.startLine()
	t.unterminated = true
}

// shadowed reports whether a text in the arguments continues as the header of another message. A user
// who writes about calls may write that into a file, and a whole message, too.
func (r *Reader) shadowed(c tools.Call) bool {
	if r.s.harmony == nil || r.c.Open() || !bytes.Contains(c.Arguments, []byte("="+harmony.Namespace)) {
		return false
	}
	args := string(c.Arguments)
	if !r.s.header.Shadow(args, r.c.Exact) || r.facts.aboutCalls() {
		return false
	}
	mended := slices.ContainsFunc(c.Repairs,
		func(r tools.Repair) bool { return strings.HasPrefix(r.Kind, "json.") })
	return mended || r.c.Class(c.Name) == tools.Exec || !strings.Contains(args, "<|message|>")
}
