package tools

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Value returns the JSON of an argument in a format without types: null, an object or a list if its
// parameter takes that but not any value; else the text. Of a deferred tool, whose schema is not known, it
// also returns true, false and numbers, but for those that JavaScript cannot hold: they may be ids.
func (c *Catalog) Value(tool, key, text string) string {
	value := strings.TrimSpace(text)
	m, refusal := c.Name(tool)
	switch {
	case refusal != nil || m.Tool == nil || !gjson.Valid(value):
	case m.Deferred != "":
		const digits = 15
		behind := strings.TrimLeft(value, "-0123456789")
		if value[0] != '"' && len(value)-len(behind) <= digits {
			return value
		}
	case c.wants(m.Tool, key, value):
		return value
	}
	return jsontext.Quote(text)
}

// Nests reports whether the schema of a tool wants an object or a list as an argument.
func (c *Catalog) Nests(tool, key string) bool {
	m, refusal := c.Name(tool)
	return refusal == nil && m.Tool != nil && m.Deferred == "" &&
		(c.wants(m.Tool, key, "{}") || c.wants(m.Tool, key, "[]"))
}

// wants reports whether the schema of a tool wants null, an object or a list, and not any value.
func (c *Catalog) wants(t *Tool, key, value string) bool {
	s := c.schemas.of(t.Parameters)
	if s == nil || s.props[key] == nil || strings.IndexByte("n[{", value[0]) < 0 {
		return false
	}
	takes := s.props[key].Accepts
	return takes(value) && !(takes("0") && takes("{}") && takes("null"))
}

// Param reports whether key may be a parameter of the tool, by its schema or by a rule. For an unknown
// tool every key may be one.
func (c *Catalog) Param(tool, key string) bool {
	m, refusal := c.Name(tool)
	if refusal != nil || m.Tool == nil {
		return true
	}
	s := c.schemas.of(m.Tool.Parameters)
	if s == nil || len(s.props) == 0 || s.props[key] != nil {
		return true
	}
	free := func(name string) bool { return s.props[name] != nil }
	name, _ := aliasOf(key, c.rules.paramsOf(m.Name), s.props, free)
	return name != ""
}

// NoParams reports whether the tool that a name means takes no argument.
func (c *Catalog) NoParams(tool string) bool {
	m, refusal := c.Name(tool)
	if refusal != nil || m.Tool == nil {
		return false
	}
	s := c.schemas.of(m.Tool.Parameters)
	return s != nil && len(s.props) == 0
}
