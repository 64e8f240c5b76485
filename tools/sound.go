package tools

import (
	"cmp"
	"slices"
)

// strangers says that none of the arguments is a parameter of the tool, whose schema names all that it
// takes: they are a result that the model made up, or those of another tool.
func (w *shaper) strangers(all []argument) bool {
	s := w.schema
	return s != nil && len(all) > 0 && len(s.props) > 0 && s.Others == nil &&
		len(s.PatternProperties)+len(s.AnyOf)+len(s.OneOf) == 0 && !s.Branched &&
		!slices.ContainsFunc(all, func(a argument) bool { return w.known(string(a.name)) })
}

// sound refuses arguments that are valid, and still may say something else than was meant. For a tool
// that only reads, no harm is done, and what came is what leaves; for one without parameters, neither.
func (c *Catalog) sound(m Match, w *shaper, object []byte) *Refusal {
	var few [8]argument
	all := argumentsOf(object, few[:0])
	if c.open || w.each(all) && misread(object, Exec) == "" && w.hollow(all) == "" {
		return nil // as nearly always, and without its class, which takes longer to find
	}
	if m.Name != deferredVia && w.strangers(all) { // the gateway takes that in other spellings, too
		names := make([]string, len(all))
		for i, a := range all {
			names[i] = string(a.name)
		}
		return w.refuse(BadSchema,
			w.schema.fault(m.Name, "", Fault{Keyword: "additionalProperties", Names: names}))
	}
	class := c.rules.Class(cmp.Or(m.Deferred, m.Name))
	if class == Read || w.schema != nil && len(w.schema.props) == 0 {
		return nil
	}
	if m.Deferred != "" {
		all = argumentsOf(all[1].value, nil) // behind its id
	}
	why := cmp.Or(w.contrary(all), c.other(m, w, all), misread(object, class))
	if class == Exec {
		why = cmp.Or(why, w.hollow(all))
	}
	if why == "" {
		return nil
	}
	return w.refuse(BadJSON, why)
}
