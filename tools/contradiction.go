package tools

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// argument is one member of the arguments.
type argument struct{ name, value []byte }

// argumentsOf appends the members of a valid object to out.
func argumentsOf(object []byte, out []argument) []argument {
	s := jsontext.Scanner{Doc: object, Depth: len(object)}
	for ok := s.Enter('{'); ok && s.Next('}'); {
		name, _ := s.Key()
		out = append(out, argument{name, s.Skip().Of(object)})
	}
	return out
}

// contradiction returns why an argument is given twice with different values: under one name, under two
// that mean the same parameter, or once below a meaningless key. JSON readers disagree about which one
// counts, so what is checked need not be what runs.
func (w *shaper) contradiction(all []argument) string {
	given := make(map[string]argument, len(all))
	say := func(a argument) string {
		param := w.paramOf(string(a.name))
		before, again := given[param]
		switch given[param] = a; {
		case !again || SameJSON(before.value, a.value):
			return ""
		case bytes.Equal(before.name, a.name):
			return fmt.Sprintf("%q is given twice, with different values; give it once", a.name)
		}
		return fmt.Sprintf("%q and %q are one argument, and their values differ; give it once", before.name,
			a.name)
	}
	for _, a := range all {
		if string(a.value) == "null" {
			continue
		}
		if why := say(a); why != "" {
			return why
		}
	}
	for _, a := range all {
		if w.known(string(a.name)) || !neutral(string(a.name)) {
			continue
		}
		for _, inner := range argumentsOf(object(a.value), nil) {
			if _, again := given[w.paramOf(string(inner.name))]; !again {
				continue
			}
			if why := say(inner); why != "" {
				return why
			}
		}
	}
	return ""
}

// allDistinct reports whether all are parameters of the tool, none twice. It is false for more than a
// few.
func (w *shaper) allDistinct(all []argument) bool {
	const few = 16
	if w.schema == nil || len(all) > few {
		return false
	}
	for i, a := range all {
		if w.schema.props[string(a.name)] == nil {
			return false
		}
		for _, b := range all[:i] {
			if bytes.Equal(a.name, b.name) {
				return false
			}
		}
	}
	return true
}

// object returns the object that a value is, or that its text is.
func object(value []byte) []byte {
	if len(value) > 1 && value[0] == '"' {
		value = jsontext.UnquoteBytes(value[1 : len(value)-1])
	}
	s := jsontext.Scanner{Doc: value}
	if s.Skip(); s.End() != nil {
		return nil
	}
	return value
}

// paramOf returns the parameter that a name means, or the name. Without known parameters, spellings of
// one name are one.
func (w *shaper) paramOf(name string) string {
	if w.schema == nil {
		return spelling(name)
	}
	if w.known(name) {
		return name
	}
	param, _ := w.renames(name, w.schema.props, w.rules.paramsOf(w.tool), w.known)
	return cmp.Or(param, name)
}

// known reports whether the tool has a parameter of exactly this name.
func (w *shaper) known(name string) bool { return w.schema != nil && w.schema.props[name] != nil }

// otherTool returns why the arguments name another tool than the called one: {"tool": "read", "command":
// "ls"}. A parameter of such a name is ignored.
func (c *Catalog) otherTool(m Match, w *shaper, all []argument) string {
	if w.schema == nil {
		return ""
	}
	for _, a := range all {
		switch string(a.name) {
		case "tool", "tool_name", "function", "recipient", "name":
			if a.value[0] != '"' || w.known(string(a.name)) {
				continue
			}
			found, refusal := c.Name(jsontext.Unquote(a.value[1 : len(a.value)-1]))
			if refusal == nil && found.Tool != nil && found.Tool != m.Tool {
				return fmt.Sprintf("they name another tool, %s; call that one, or leave its name out",
					found.Name)
			}
		}
	}
	return ""
}
