package tools

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sound refuses arguments that are valid, and still may say something else than was meant. For a tool
// that only reads, no harm is done, and what came is what leaves; for one without parameters, neither.
func (c *Catalog) sound(m Match, w *shaper, object []byte) *Refusal {
	var few [8]argument
	all := argumentsOf(object, few[:0])
	if c.open || w.each(all) && misread(object, Exec) == "" && w.hollow(all) == "" {
		return nil // as nearly always, and without its class, which takes longer to find
	}
	if w.unheard(all) {
		return w.refuse(BadSchema, fmt.Sprintf("none of what was sent is a parameter of %s, which takes %s", m.Name, strings.Join(slices.Sorted(maps.Keys(w.schema.props)), ", ")))
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

// unheard reports whether there are arguments, and none is a parameter of the tool, which may take others,
// too: such as a result that the model made up, sent as a call.
func (w *shaper) unheard(all []argument) bool {
	return w.schema != nil && len(w.schema.props) > 0 && w.schema.Others == nil && len(all) > 0 &&
		!slices.ContainsFunc(all, func(a argument) bool { return w.known(string(a.name)) })
}
