package tools

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
	"github.com/jgavinray/gpt-oss-executor/tools/notation"
)

// notated returns the object that text is in another notation. That it is one is proven by what
// comes out: strictly valid JSON, with nothing but parameters of the tool, and all that it requires.
// Where two readings are proven so, nobody can tell which is meant.
func (w *shaper) notated(text string) (r reading, refusal *Refusal, ok bool) {
	if w.schema == nil {
		return reading{}, nil, false
	}
	var found []notation.Reading
	for _, n := range notation.Of(text, w.rules.MaxDepth) {
		if w.proves(n.JSON) {
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
		r = reading{object: found[0].JSON}
		if found[0].Open {
			r.cut = jsonrepair.Closers
		}
		return r, nil, true
	}
	return reading{}, w.refuse(BadJSON, "they can be read in two ways"), true
}

// proves reports whether object is what the tool takes, and has each key once.
func (w *shaper) proves(object string) bool {
	try := *w
	try.repairs = []Repair{{}} // it was mended: every value is looked at
	object, refusal := try.fit(object)
	given := membersOf(object)
	return refusal == nil && len(given) > 0 && len(given) <= len(w.schema.props) && !slices.ContainsFunc(given, func(m member) bool {
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
