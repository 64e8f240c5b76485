package tools

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Value returns the JSON of an argument in a format without types: null, an object or a list if its
// parameter takes that but not any value; else the text.
func (c *Catalog) Value(tool, key, text string) string {
	value := strings.TrimSpace(text)
	m, refusal := c.Name(tool)
	if value == "" || strings.IndexByte("n[{", value[0]) < 0 || !gjson.Valid(value) || refusal != nil ||
		m.Tool == nil {
		return jsontext.Quote(text)
	}
	if s := c.schemas.of(m.Tool.Parameters); s != nil && s.props[key] != nil {
		takes := s.props[key].Accepts
		if takes(value) && !(takes("0") && takes("{}") && takes("null")) {
			return value
		}
	}
	return jsontext.Quote(text)
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
