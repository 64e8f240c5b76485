package tools

import (
	"cmp"
	"slices"
)

// named says that the schema names all that the tool takes, or seems to: it is not said that others may come.
func (s *schema) named() bool {
	return s != nil && len(s.props) > 0 && s.Others == nil && !s.Branched &&
		len(s.PatternProperties)+len(s.AnyOf)+len(s.OneOf) == 0
}

// stranger says that an argument is no parameter of the tool, and so may mean one.
func (w *shaper) stranger(all []argument) bool {
	return w.schema.named() &&
		slices.ContainsFunc(all, func(a argument) bool { return !w.known(string(a.name)) })
}

// strangers says that none of the arguments is a parameter of the tool: they are a result that the model
// made up, or those of another tool.
func (w *shaper) strangers(all []argument) bool {
	return w.schema.named() && len(all) > 0 &&
		!slices.ContainsFunc(all, func(a argument) bool { return w.known(string(a.name)) })
}

// sound refuses arguments that are valid, and still may say something else than was meant. For a tool
// that only reads, no harm is done, and what came is what leaves; for one without parameters, neither.
// all are the arguments of object.
func (c *Catalog) sound(m Match, w *shaper, all []argument, object []byte) *Refusal {
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
