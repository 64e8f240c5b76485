package parse

import (
	"bytes"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// ending is how the value being read came to its end. A value is open only at the end, so this does not
// depend on when it is asked.
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

// found hands a candidate call to the catalog. v[from:to] is all of its text.
func (t *text) found(st *Strategy, v string, from, to int, c Call, end tools.Ending,
	how ...tools.Repair) bool {
	candidate := t.said + v[from:to]
	t.said = ""
	if !t.allowed(st, from, to, candidate) {
		return false
	}
	if several := t.several(st, c, end); len(several) > 0 {
		for _, one := range several {
			t.offer(st, from, to, one, end, how)
		}
		return true
	}
	return t.offer(st, from, to, c, end, how)
}

// several are the calls in the arguments of a wrapper.
func (t *text) several(st *Strategy, c Call, end tools.Ending) []Call {
	return t.envelopeOf(st).Several(t.r.c, c, t.r.facts.MaxDepth, end.How == tools.Cut)
}

// offer hands one call to the catalog.
func (t *text) offer(st *Strategy, from, to int, c Call, end tools.Ending, how []tools.Repair) bool {
	end.Guessed = end.Guessed || c.Unsure
	call, refusal := t.r.c.Call(strings.Clone(c.Name), []byte(c.Args), end)
	if refusal != nil && st.Own && strings.Trim(c.Name, "0123456789") == "" { // a number stands for the name
		if fit, ok := t.r.c.Fit(c.Args, end); ok {
			call, refusal = fit, nil
		}
	}
	if refusal == nil && c.Doubt && t.r.c.Class(call.Name) != tools.Read {
		refusal = doubt(call)
	}
	return t.take(st, from, to, call, refusal, how)
}

// take records a call or the reason why it is none. One that has left is made once, in whatever form it
// stands.
func (t *text) take(st *Strategy, from, to int, call tools.Call, refusal *tools.Refusal,
	how []tools.Repair) bool {
	written := call
	if refusal == nil {
		if t.repeated(st, from, to, call) {
			return true
		}
		t.r.once.Changed(t.r.c, call)
	}
	if refusal == nil && t.r.shadowed(call) {
		refusal = &tools.Refusal{Code: tools.BadJSON, Name: call.Name, Text: string(call.Arguments),
			Why: "the header of another message stands in a text of the arguments of " + call.Name +
				"; send them without it"}
	}
	if refusal == nil && t.doubted {
		refusal = doubt(call)
	}
	if refusal == nil && t.r.result.Rests(call, t.r.c, t.r.torn) {
		refusal = &tools.Refusal{Code: tools.Behind, Name: call.Name, Text: string(call.Arguments),
			Why: notMade}
	}
	if refusal == nil {
		call.Strategy, call.Confidence = st.ID, st.Confidence
		if judge := t.r.facts.Judge; judge != nil {
			if refusal = judge(&call); refusal != nil {
				t.r.once.Add(written) // said twice, it is denied once
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
	t.r.once.Add(written)
	if t.field != native {
		t.r.spoken.Add(written)
	}
	t.r.call(call)
	return true
}

// repeated counts a call that stands in the reply once more.
func (t *text) repeated(st *Strategy, from, to int, call tools.Call) bool {
	if !t.r.once.Has(call) && !(t.field == native && t.r.spoken.Has(call)) {
		return false
	}
	t.note(st, from, to, Dropped, "the same call was found before")
	t.r.result.Repeated++
	return true
}

// notMade is why a call is not made that stands behind such a one.
const notMade = "a call in front of it was not made, or the reply is not whole"

// behindCall goes on behind a call found in n bytes of text: more calls may follow, but
// text would depend on a result that does not exist yet.
func (t *text) behindCall(n int) (int, bool) {
	t.prose(0)
	t.unanswered()
	t.first, t.filler = true, true
	return n, false
}

// behindOwn goes on behind a call of n bytes in the model's own format: text behind it is an answer, too.
func (t *text) behindOwn(n int) (int, bool) {
	t.prose(0)
	t.settle(Text)
	t.fresh()
	return n, false
}

// unanswered notes that a call came without a terminator. What stands before it is
// no thought: the token that would say so cannot come any more.
func (t *text) unanswered() {
	t.settle(Text)
	t.fresh()
	t.hanging = true
}

// shadowed says that a text in the arguments of a call goes on as the header of another message.
// Who writes about calls may write such a thing into a file, and a whole message, too.
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
