package tools

import "cmp"

// sound refuses arguments that are valid, and still may say something else than was meant. For a tool
// that only reads, no harm is done, and what came is what leaves; for one without parameters, neither.
func (c *Catalog) sound(m Match, w *shaper, object []byte) *Refusal {
	var few [8]argument
	all := argumentsOf(object, few[:0])
	if c.open || w.each(all) && misread(object, Exec) == "" && w.hollow(all) == "" {
		return nil // as nearly always, and without its class, which takes longer to find
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
