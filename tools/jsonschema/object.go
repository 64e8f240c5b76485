package jsonschema

import (
	"maps"
	"slices"
)

func (c *check) object(s *Schema, v map[string]any, n *seen) []Fault {
	out := c.faults(s, "minProperties", s.MinProperties != nil && len(v) < *s.MinProperties,
		"maxProperties", s.MaxProperties != nil && len(v) > *s.MaxProperties)
	out = append(out, c.missing("required", s.Required, v)...)
	if c.quick && len(out) > 0 {
		return out
	}
	var more []string
	for name, e := range v {
		known, faults := c.property(s, name, e)
		if known && n != nil {
			n.names[name] = true
		}
		if !known && s.Closed {
			more = append(more, name)
		}
		if out = append(out, faults...); c.quick && len(out)+len(more) > 0 {
			break
		}
	}
	if len(more) > 0 {
		slices.Sort(more)
		f := c.fault("additionalProperties")
		f.Names = more
		out = append(out, f)
	}
	if s.PropertyNames != nil {
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, (&check{quick: c.quick}).self(s.PropertyNames, name, nil)...)
		}
	}
	for _, d := range s.Dependencies {
		if _, given := v[d.Property]; !given {
			continue
		}
		if d.Schema != nil {
			out = append(out, c.also(d.Schema, v, n)...)
		} else if f := c.missing(d.Keyword+" "+d.Property, d.Names, v); f != nil {
			out = append(out, f...)
		}
	}
	return out
}

// property checks one property, and reports whether the schema has said anything about it.
func (c *check) property(s *Schema, name string, v any) (known bool, out []Fault) {
	if sub := s.Properties[name]; sub != nil {
		known, out = true, c.child(sub, v, name)
	}
	for _, p := range s.PatternProperties {
		if p.Name.MatchString(name) {
			known, out = true, append(out, c.child(p.Schema, v, name)...)
		}
	}
	if !known && s.Others != nil {
		known, out = true, c.child(s.Others, v, name)
	}
	return known, out
}

// missing is the fault of names that an object does not have, if there are any.
func (c *check) missing(keyword string, names []string, v map[string]any) []Fault {
	var missing []string
	for _, name := range names {
		if _, ok := v[name]; !ok {
			missing = append(missing, name)
		}
	}
	if missing == nil {
		return nil
	}
	f := c.fault(keyword)
	f.Names = missing
	return []Fault{f}
}
