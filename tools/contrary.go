package tools

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// argument is one member of the arguments, where it stands in them.
type argument struct{ name, value []byte }

// argumentsOf adds the members of an object that was read before to out.
func argumentsOf(object []byte, out []argument) []argument {
	s := jsontext.Scanner{Doc: object, Depth: len(object)}
	for ok := s.Enter('{'); ok && s.Next('}'); {
		name, _ := s.Key()
		out = append(out, argument{name, s.Skip().Of(object)})
	}
	return out
}

// contrary says which argument is given twice, with different values: by one name, by two that mean
// the same parameter, or once below a key that says nothing. Which of them counts, each reader of
// JSON decides for itself, so that what is looked at need not be what runs.
func (w *shaper) contrary(all []argument) string {
	given := make(map[string]argument, len(all))
	say := func(a argument) string {
		param := w.meant(string(a.name))
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
			if _, again := given[w.meant(string(inner.name))]; !again {
				continue
			}
			if why := say(inner); why != "" {
				return why
			}
		}
	}
	return ""
}

// each reports whether all are parameters of the tool, each another one, as most are.
func (w *shaper) each(all []argument) bool {
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

// object is the object that a value is, or that its text is.
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

// meant is the parameter that a name means, whatever stands beside it; a name that means none stands
// for itself. Where the parameters are not known, two spellings of one name are one.
func (w *shaper) meant(name string) string {
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

// other says which tool the arguments name, if that is not the one that was called: {"tool": "read",
// "command": "ls"}. Where a parameter is called so, it says something else.
func (c *Catalog) other(m Match, w *shaper, all []argument) string {
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
