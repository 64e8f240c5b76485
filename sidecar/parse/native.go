package parse

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// addNative adds a piece. A call that is whole is complete when the next one begins.
func (r *Reader) addNative(d CallDelta) {
	all, i := Owns(r.native).Add(Own{Index: d.Index, ID: d.ID, Name: d.Name, Args: d.Arguments})
	r.native = all
	if i+1 == len(all) && all.Begins(i) {
		r.takeNatives(all.Whole(i))
	}
}

// takeNatives takes the calls in front of call n.
func (r *Reader) takeNatives(n int) {
	for c, how := range Owns(r.native).Take(n, r.ended) {
		if r.s.native != nil {
			r.takeNative(r.s.native, c, how)
		}
	}
}

// takeNative takes a call that ended as how says, and what the server left of the text around it. Where the
// text that was shown ends as an object or a form does, and the arguments are not whole, they went on there:
// the call counts as cut. So it does where a text of the request may have stopped the reply: some servers say
// tool_calls then.
func (r *Reader) takeNative(st *Strategy, c *Own, how tools.End) {
	if !r.c.Exact(c.Name) {
		c.Apart()
	}
	ended, left := how, Left{}
	if r.s.harmony != nil {
		left = c.Clean(r.s.header.Alphabet, r.c.Nobody(c.Name))
	}
	switch {
	case (r.facts.Stops || EndsArguments(r.shown.String())) && !json.Valid(c.Args):
		how = tools.Cut
	case left.Closed:
		how = tools.Ended
	}
	t := text{r: r, field: native, base: c.Index}
	if st.When != nil && !t.allowed(st, 0, 1, string(c.Args)+left.Behind) {
		return
	}
	if !left.All {
		t.takeOwn(st, c, how)
	}
	r.overhear(left.Behind, ended, false)
}

// takeOwn takes a call, or those in the arguments of one that names no tool: a wrapper, or the namespace.
func (t *text) takeOwn(st *Strategy, c *Own, how tools.End) {
	several := t.several(st, Call{Name: c.Name, Args: string(c.Args)}, tools.Ending{How: how})
	if t.r.c.Nobody(c.Name) {
		found, _ := t.unwrap(st, string(c.Args), how == tools.Cut)
		if several = found.List; several == nil {
			several = t.keyed(string(c.Args))
		}
	}
	if len(several) > 0 {
		for i, one := range several {
			if i+1 < len(several) || !t.healed(st, one.Name, one.Args, how) {
				t.offer(st, 0, 1, one, tools.Ending{}, nil)
			}
		}
		return
	}
	call, refusal := t.r.c.Call(c.Name, c.Args, tools.Ending{How: how})
	if class, _ := t.r.c.ClassOf(c.Name); refusal != nil && class == tools.Read {
		all := Objects(string(c.Args))
		for _, args := range all {
			t.offer(st, 0, 1, Call{Name: c.Name, Args: args}, tools.Ending{}, nil)
		}
		if len(all) > 0 {
			return
		}
	}
	switch {
	case refusal == nil && !t.r.once.Has(call) && t.healed(st, call.Name, string(c.Args), how):
	default:
		fitted := func(r tools.Repair) bool { return r.Kind == "name.fit" }
		if refusal == nil && slices.ContainsFunc(call.Repairs, fitted) &&
			t.r.c.Class(call.Name) != tools.Read && t.r.wantsData() {
			if refusal = doubt(call); t.r.facts.Asked { // it is said again: it is the answer
				refusal.Code = tools.Answer
			}
		}
		t.take(st, 0, 1, call, refusal, nil)
	}
}

// keyed is the call in {"read": {"path": "a"}}, however the name is bent.
func (t *text) keyed(args string) (calls []Call) {
	if !gjson.Valid(args) {
		return nil
	}
	gjson.Parse(args).ForEach(func(key, value gjson.Result) bool {
		if calls == nil && value.IsObject() && t.r.names.Known(key.Str) {
			calls = []Call{{Name: key.Str, Args: value.Raw}}
			return true
		}
		calls = nil
		return false
	})
	return calls
}

// healed refuses a call that changes something and in which the reply was cut. That its arguments
// are whole may be the server's doing: it closed them where they ended.
func (t *text) healed(st *Strategy, name, args string, how tools.End) bool {
	if how == tools.Cut {
		if class, _ := t.r.c.ClassOf(name); class != tools.Read {
			t.cutOff(st, args, 0, strings.Clone(name))
			return true
		}
	}
	return false
}

// overhear reads what a server left in a call of its own as content is read. Where it was shown, it may
// call nothing that writes or executes.
func (r *Reader) overhear(left string, how tools.End, shown bool) {
	if scan.Blank(left) {
		return
	}
	probe := r.s.Reader(r.c, r.facts)
	probe.content.held, probe.content.field = false, native
	probe.content.between()
	probe.ended, probe.calls, probe.once, probe.torn = how, r.calls, r.once, r.torn
	probe.result.Refused = slices.Clip(r.result.Refused)
	probe.content.feed(left, false)
	probe.closeContent()
	for _, e := range probe.events {
		switch {
		case e.Kind != ToolCall:
			r.emit(e.Kind, e.Text)
		case shown && r.c.Class(e.Call.Name) != tools.Read:
			probe.refuse(*doubt(*e.Call))
		default:
			r.call(*e.Call)
		}
	}
	r.once, r.torn = probe.once, probe.torn
	r.result.Repeated += probe.result.Repeated
	r.result.Refused = probe.result.Refused
	r.result.Steps = append(r.result.Steps, probe.result.Steps...)
}

// echoes says that doc is the arguments of a call that is there already: one of the server's
// own, or the last one that was read.
func (r *Reader) echoes(doc string) bool {
	if n := len(r.result.Calls); n > 0 && tools.SameJSON(r.result.Calls[n-1].Arguments, []byte(doc)) {
		return true
	}
	return Owns(r.native).Have(doc)
}
