package tools

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
	"github.com/jgavinray/gpt-oss-executor/tools/notation"
)

// readBare returns the one object that text means, with nothing around it: in another notation, if
// that is certain; else as damaged JSON, or as the value of a parameter. What programs write is read
// for certain only where that leaves a doubt, since most of it is hardly damaged JSON.
func (w *shaper) readBare(text string) (reading, *Refusal) {
	if w.schema == nil {
		return w.readMended(text)
	}
	if r, refusal, ok := w.notated(notation.Of(text, w.rules.MaxDepth)); ok {
		return r, refusal
	}
	noted := w.repairs
	r, refusal := w.readMended(text)
	mended := w.repairs
	wrapped := slices.ContainsFunc(mended[len(noted):], func(r Repair) bool { return r.Kind == "args.wrap" })
	if refusal == nil && !r.unsure && !wrapped {
		return r, nil
	}
	w.repairs = noted
	if r, refusal, ok := w.notated(notation.Literal(text, w.rules.MaxDepth)); ok {
		return r, refusal
	}
	w.repairs = mended
	if refusal == nil && notation.Marked(text) {
		return reading{}, w.refuse(BadJSON, "marks of a tokenizer stand in it")
	}
	if refusal == nil && wrapped && w.harmless() && w.schema.labels(text, "") {
		return reading{}, w.refuse(BadJSON, "what came names arguments in a way of its own")
	}
	return r, refusal
}

// notated returns the object that a text is in another notation. That it is one is proven by what
// comes out: strictly valid JSON, with nothing but parameters of the tool, and all that it requires.
// Two readings that are proven so are ambiguous.
func (w *shaper) notated(readings []notation.Reading) (r reading, refusal *Refusal, ok bool) {
	var found []notation.Reading
	for _, n := range readings {
		n.JSON = w.unnamed(n.JSON)
		again := slices.ContainsFunc(found,
			func(f notation.Reading) bool { return SameJSON([]byte(f.JSON), []byte(n.JSON)) })
		if !again && !w.mayBeProgram(n) && w.proves(n.JSON, n.Open) {
			found = append(found, n)
		}
	}
	switch len(found) {
	case 0:
		return reading{}, nil, false
	case 1:
		for _, s := range found[0].Steps {
			w.note(s.Kind, s.From, s.To, "")
		}
		r = reading{object: strings.TrimSpace(found[0].JSON)}
		if found[0].Open {
			r.cut = jsonrepair.Closers
		}
		return r, nil, true
	}
	return reading{}, w.refuse(BadJSON, "they can be read in two ways"), true
}

// mayBeProgram reports whether a text may be what the tool runs, and no arguments: code = "x" is
// Python, too. The values of a literal have types: where they do not fit, {code: true} may be a text
// that lacks its quotes, and +358 a number to call. A shell may have to see the backslash of it\'s.
func (w *shaper) mayBeProgram(n notation.Reading) bool {
	typed := slices.ContainsFunc(n.Steps,
		func(s notation.Step) bool { return s.Kind == notation.Program || s.Kind == notation.Numbers })
	if typed && !w.schema.Accepts(n.JSON) {
		return true
	}
	if step := n.Steps[0]; step.Kind == notation.Program && w.rules.Class(w.tool) == Exec &&
		notation.Contracted(step.From) {
		return true
	}
	name, _ := w.only()
	_, takes := w.rules.textParam(w.tool, name)
	return takes && n.Open && slices.ContainsFunc(n.Steps, func(s notation.Step) bool {
		return s.Kind == notation.Lines || s.Kind == notation.Program
	})
}

// unnamed is the arguments of a call that repeats the name of the tool, or object itself.
func (w *shaper) unnamed(object string) string {
	if e := readEnvelope([]byte(object)); e.nameKey != "" &&
		strings.TrimPrefix(e.name, "functions.") == w.tool {
		return e.args
	}
	return object
}

// proves reports whether object is what the tool takes, and has each key once. One without a frame
// of its own must name its keys as the tool does.
func (w *shaper) proves(object string, open bool) bool {
	try := *w
	try.repairs = []Repair{{}} // it was mended: every value is looked at
	given := membersOf(object)
	object, refusal := try.fit(object)
	if !open {
		given = membersOf(object)
	}
	return refusal == nil && len(given) > 0 && len(given) <= len(w.schema.props) &&
		!slices.ContainsFunc(given, func(m member) bool {
			return w.schema.props[m.name] == nil || count(given, m.name) > 1
		})
}

func count(all []member, name string) (n int) {
	for _, m := range all {
		if m.name == name {
			n++
		}
	}
	return n
}
