package tools

import (
	"slices"
	"strings"
)

// keySigns are what stands in no name of a parameter, but is stuck to some: "recursive?", "*path",
// "args.path", "tags[]".
const keySigns = ".?*:=[]&,; \"'`$@"

// odd reports whether a key that is no parameter may mean one, or be the frame of a schema.
func odd(key string) bool { return strings.ContainsAny(key, keySigns) || key == "properties" }

// spelt reports whether every key of an object means what it says: none that is no parameter means
// one that is not given. Where the schema says that it takes others, only a sign makes a key suspicious.
func (w *shaper) spelt(object string, s *schema) bool {
	all, aliases := membersOf(object), w.rules.paramsOf(w.tool)
	return !slices.ContainsFunc(all, func(m member) bool {
		if s.props[m.name] != nil || !odd(m.name) && !s.named() {
			return false
		}
		free := func(name string) bool { return s.props[name] != nil && !has(all, name) }
		name, _ := w.renames(m.name, s.props, aliases, free)
		return name != ""
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

// holds reports whether a schema is one of an object or a list, and of nothing else.
func holds(s *Schema) bool {
	t := target(s)
	return len(t.Types) == 1 && (t.Types[0] == "object" || t.Types[0] == "array")
}
