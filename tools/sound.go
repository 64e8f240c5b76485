package tools

import (
	"cmp"
	"fmt"
)

// sound refuses arguments that are valid, and still may say something else than was meant. For a tool
// that only reads, no harm is done, and what came is what leaves; for one without parameters, neither.
func (c *Catalog) sound(m Match, w *shaper, object []byte) *Refusal {
	class := c.rules.Class(cmp.Or(m.Deferred, m.Name))
	if c.open || class == Read || w.schema != nil && len(w.schema.props) == 0 {
		return nil
	}
	all := argumentsOf(object)
	if m.Deferred != "" {
		all = argumentsOf(all[1].value) // behind its id
	}
	if why := w.contrary(all); why != "" {
		return w.refuse(BadJSON, why)
	}
	if name := c.other(m, w, all); name != "" {
		return w.refuse(BadJSON, fmt.Sprintf("they name another tool, %s; call that one, or leave its name out", name))
	}
	if why := misread(object, class); why != "" {
		return w.refuse(BadJSON, why)
	}
	if why := w.hollow(all); why != "" && class == Exec {
		return w.refuse(BadJSON, why)
	}
	return nil
}
