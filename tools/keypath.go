package tools

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonschema"
)

// keySigns are what stands in no name of a parameter, but is stuck to some: "recursive?", "*path",
// "args.path", "tags[]".
const keySigns = ".?*:=[]&,; \"'`$@"

// odd reports whether a key that is no parameter may mean one, or be the frame of a schema.
func odd(key string) bool { return strings.ContainsAny(key, keySigns) || key == "properties" }

// spelt reports whether every key of an object means what it says: none that is no parameter means
// one that is not given.
func (w *shaper) spelt(object string, s *schema) bool {
	all := membersOf(object)
	return !slices.ContainsFunc(all, func(m member) bool {
		if s.props[m.name] != nil || !odd(m.name) {
			return false
		}
		free := func(name string) bool { return s.props[name] != nil && !has(all, name) }
		head, _, ok := firstName(m.name)
		return sameKey(m.name, s.props, free) != "" || w.unprefixed(m.name, free) != "" || ok && free(head) &&
			holds(s.props[head])
	})
}

// unprefixed is the parameter that a key names with the tool, or a word that says nothing, in front:
// read_file.path, args.path.
func (w *shaper) unprefixed(given string, free func(string) bool) string {
	given = strings.TrimPrefix(given, "functions.")
	head, rest, ok := strings.Cut(given, ".")
	if !ok || !neutral(head) && key(head) != key(w.tool) || !free(rest) {
		return ""
	}
	return rest
}

// firstName takes the first name off a path: guest.name, guest[name], tags[0].
func firstName(path string) (head, rest string, ok bool) {
	at := strings.IndexAny(path, ".[")
	if at <= 0 {
		return "", "", false
	}
	head, rest = path[:at], path[at+1:]
	if path[at] == '[' {
		inner, behind, closed := strings.Cut(rest, "]")
		if rest = inner + behind; !closed || behind != "" && behind[0] != '.' && behind[0] != '[' {
			return "", "", false
		}
	}
	return head, rest, rest != ""
}

// takesObject reports whether a schema takes an object.
func takesObject(s *jsonschema.Schema) bool {
	t := target(s)
	return len(t.Types) == 0 || slices.Contains(t.Types, "object")
}

// holds reports whether a schema is one of an object or a list, and of nothing else.
func holds(s *jsonschema.Schema) bool {
	t := target(s)
	return len(t.Types) == 1 && (t.Types[0] == "object" || t.Types[0] == "array")
}

// nest puts what dotted keys say into the objects and lists that the schema has: "guest.name": "Ada"
// is guest: {name: "Ada"}. A parameter that is given as a whole, too, is left alone.
func (w *shaper) nest(all []member, props map[string]*jsonschema.Schema) ([]member, bool) {
	var out []member
	changed := false
	for i, m := range all {
		head, _, ok := firstName(m.name)
		if !ok || props[m.name] != nil || props[head] == nil || has(all, head) || !holds(props[head]) {
			out = append(out, m)
			continue
		}
		changed = true
		first := slices.IndexFunc(all,
			func(o member) bool { h, _, ok := firstName(o.name); return ok && h == head })
		if first < i {
			continue
		}
		inner := below(all, head)
		value, ok := join(inner), true
		if typed(target(props[head]), "array") {
			value, ok = listed(inner)
		}
		if !ok {
			return all, false
		}
		w.note("args.nest", m.name, head, "")
		out = append(out, member{name: head, key: jsontext.Quote(head), val: value})
	}
	return out, changed
}

// below is the members whose keys begin with a name, without it.
func below(all []member, head string) (out []member) {
	for _, m := range all {
		if h, rest, ok := firstName(m.name); ok && h == head {
			out = append(out, member{name: rest, key: jsontext.Quote(rest), val: m.val})
		}
	}
	return out
}

// listed is the list whose elements have their places for names. It is false where one is missing.
func listed(elements []member) (list string, ok bool) {
	values := make([]string, len(elements))
	for i, e := range elements {
		if e.name != strconv.Itoa(i) {
			return "", false
		}
		values[i] = e.val
	}
	return "[" + strings.Join(values, ",") + "]", true
}
