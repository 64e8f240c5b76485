package tools

import "slices"

// Param reports whether key may be a parameter of the tool: one that its schema
// names, or that a rule knows by another name. Where nothing is known of the tool,
// every key may be one.
func (c *Catalog) Param(tool, key string) bool {
	m, refusal := c.Name(tool)
	if refusal != nil || m.Tool == nil {
		return true
	}
	s := c.schemas.of(m.Tool.Parameters)
	if s == nil || len(s.props) == 0 || s.props[key] != nil {
		return true
	}
	for _, p := range c.rules.paramsOf(m.Name) {
		if s.props[p.Param] != nil && (p.Param == key || slices.Contains(p.From, key)) {
			return true
		}
	}
	return false
}

// Argless reports whether a tool takes no argument, by its schema, however its name is bent.
func (c *Catalog) Argless(tool string) bool {
	m, refusal := c.Name(tool)
	if refusal != nil || m.Tool == nil {
		return false
	}
	s := c.schemas.of(m.Tool.Parameters)
	return s != nil && len(s.props) == 0
}
