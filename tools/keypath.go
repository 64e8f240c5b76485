package tools

import (
	"slices"
	"strings"
)

// keySigns stick to names of parameters but are no part of them: "recursive?", "*path", "args.path",
// "tags[]".
const keySigns = ".?*:=[]&,; \"'`$@"

// suspiciousKey reports whether an unknown key may mean a parameter, or frame a schema.
func suspiciousKey(key string) bool { return strings.ContainsAny(key, keySigns) || key == "properties" }

// keysExact reports whether no unknown key means a parameter that is not given. If the schema takes
// others, only signs make a key suspicious.
func (w *shaper) keysExact(object string, s *schema) bool {
	all, aliases := membersOf(object), w.rules.paramsOf(w.tool)
	return !slices.ContainsFunc(all, func(m member) bool {
		if s.props[m.name] != nil || !suspiciousKey(m.name) && !s.closed() {
			return false
		}
		free := func(name string) bool { return s.props[name] != nil && !has(all, name) }
		name, _ := w.renames(m.name, s.props, aliases, free)
		return name != ""
	})
}

// unprefixed returns the parameter behind the tool's name or a neutral word: read_file.path, args.path.
func (w *shaper) unprefixed(given string, free func(string) bool) string {
	given = strings.TrimPrefix(given, "functions.")
	head, rest, ok := strings.Cut(given, ".")
	if !ok || !neutral(head) && key(head) != key(w.tool) || !free(rest) {
		return ""
	}
	return rest
}

// isContainer reports whether a schema takes objects or lists only.
func isContainer(s *Schema) bool {
	t := target(s)
	return len(t.Types) == 1 && (t.Types[0] == "object" || t.Types[0] == "array")
}
