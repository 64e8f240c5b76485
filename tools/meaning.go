package tools

import (
	"cmp"
	"slices"
)

// closed reports whether the schema lists every parameter that the tool takes.
func (s *schema) closed() bool {
	return s != nil && len(s.props) > 0 && s.Others == nil && !s.Branched &&
		len(s.PatternProperties)+len(s.AnyOf)+len(s.OneOf) == 0
}

// hasUnknown reports whether an argument is no parameter of the tool, so that it may be a misspelt one.
func (w *shaper) hasUnknown(all []argument) bool {
	return w.schema.closed() &&
		slices.ContainsFunc(all, func(a argument) bool { return !w.known(string(a.name)) })
}

// allUnknown reports whether no argument is a parameter of the tool: they are an invented result, or for
// another tool.
func (w *shaper) allUnknown(all []argument) bool {
	return w.schema.closed() && len(all) > 0 &&
		!slices.ContainsFunc(all, func(a argument) bool { return w.known(string(a.name)) })
}

// checkMeaning refuses valid arguments that may mean something else. Those of a tool that reads or has
// no parameters pass. all are the members of object.
func (c *Catalog) checkMeaning(m Match, w *shaper, all []argument, object []byte) *Refusal {
	if c.open || w.allDistinct(all) && misreadEscape(object, Exec) == "" && w.emptyArgument(all) == "" {
		return nil // the common case, without the class, which takes longer
	}
	if m.Name != deferredVia && w.allUnknown(all) { // the gateway accepts other spellings of this one
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
	why := cmp.Or(w.contradiction(all), c.otherTool(m, w, all), misreadEscape(object, class))
	if class == Exec {
		why = cmp.Or(why, w.emptyArgument(all))
	}
	if why == "" {
		return nil
	}
	return w.refuse(BadJSON, why)
}
