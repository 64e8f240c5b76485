package tools

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// member is a key of an object with its value, as they stand in the text.
type member struct {
	name  string // decoded
	key   string // as JSON
	val   string // the value as JSON
	given string // the name as the model wrote it, if it was replaced
}

func membersOf(object string) []member {
	var out []member
	gjson.Parse(object).ForEach(func(k, v gjson.Result) bool {
		out = append(out, member{name: k.String(), key: k.Raw, val: v.Raw})
		return true
	})
	return out
}

// object repairs the keys and values of an object. Order and valid values stay.
func (w *shaper) object(raw string, s *Schema, props map[string]*Schema,
	required []string, aliases []ParamAlias) string {
	all := membersOf(raw)
	changed := w.splitKeys(all, props)
	if w.renameKeys(all, props, aliases) {
		changed = true
	}
	kept := all[:0:0]
	for _, m := range all {
		if sub := memberSchema(s, props, m.name); sub != nil {
			if !slices.Contains(required, m.name) && w.saysNothing(sub, m) {
				changed = true
				continue
			}
			line, fits := w.command(m, sub)
			if !fits {
				if m.given != "" {
					m = member{name: m.given, key: jsontext.Quote(m.given), val: m.val}
				}
				kept = append(kept, m)
				continue
			}
			val := w.value(sub, line)
			changed = changed || val != m.val
			m.val = val
		}
		kept = append(kept, m)
	}
	if !changed {
		return raw
	}
	return join(kept)
}

// saysNothing reports whether an optional argument may go: null if the schema has no null, and {} in
// place of a list. Models send them for "not given".
func (w *shaper) saysNothing(s *Schema, m member) bool {
	v := gjson.Parse(m.val)
	null := v.Type == gjson.Null
	empty := v.IsObject() && len(v.Map()) == 0 && typed(target(s), "array")
	if !null && !empty || w.accepts(s, m.val) {
		return false
	}
	w.note("args.drop_null", m.key+":"+m.val, "", "")
	return true
}

// renameKeys gives arguments the names of the schema if only case, "-", "_" or blanks differ, or by a
// rule. It never replaces a given parameter.
func (w *shaper) renameKeys(all []member, props map[string]*Schema, aliases []ParamAlias) bool {
	changed := false
	for i, m := range all {
		if props[m.name] != nil {
			continue
		}
		free := func(name string) bool { return props[name] != nil && !has(all, name) }
		if name, place := w.renames(m.name, props, aliases, free); name != "" {
			w.note("args.rename", m.name, name, place)
			all[i] = member{name: name, key: jsontext.Quote(name), val: m.val, given: m.name}
			changed = true
		}
	}
	return changed
}

// renames returns the parameter that an unknown name means, and the rule for it.
func (w *shaper) renames(given string, props map[string]*Schema, aliases []ParamAlias,
	free func(string) bool) (name, place string) {
	if name = sameKey(given, props, free); name == "" {
		name, place = aliasOf(given, aliases, props, free)
	}
	return cmp.Or(name, w.unprefixed(given, free)), place
}

// aliasOf finds the parameter that rules know under a name: the one of the rule, or the only other name
// of it that is free.
func aliasOf(given string, aliases []ParamAlias, props map[string]*Schema,
	free func(string) bool) (name, place string) {
	for _, a := range aliases {
		if !a.names(given) {
			continue
		}
		if own := sameKey(a.Param, props, free); own != "" {
			return own, a.Place
		}
		var candidates []string
		for _, n := range a.From {
			if own := sameKey(n, props, free); own != "" && !slices.Contains(candidates, own) {
				candidates = append(candidates, own)
			}
		}
		if len(candidates) == 1 {
			return candidates[0], a.Place
		}
	}
	return "", ""
}

// names reports whether the rule has this name, in any spelling.
func (a *ParamAlias) names(given string) bool {
	return hasKey(a.Param, key(given)) || alike(a.From, given)
}

// alike reports whether a name is in a list, in any spelling.
func alike(list []string, name string) bool {
	want := key(name)
	return slices.ContainsFunc(list, func(n string) bool { return hasKey(n, want) })
}

// sameKey finds the free parameter of this name, or the only one in another spelling.
func sameKey(given string, props map[string]*Schema, free func(string) bool) string {
	if free(given) {
		return given
	}
	found, want := "", spelling(given)
	for name := range props {
		if want == "" || !hasKey(name, want) || !free(name) {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// splitKeys turns a key "count=10" without a value into count: 10.
func (w *shaper) splitKeys(all []member, props map[string]*Schema) bool {
	changed := false
	for i, m := range all {
		name, text, ok := strings.Cut(m.name, "=")
		name = strings.TrimSpace(name)
		valueless := m.val == "null" || m.val == `""` || m.val == "true"
		if !ok || !valueless || props[m.name] != nil || props[name] == nil || has(all, name) {
			continue
		}
		val := strings.TrimSpace(text)
		if !json.Valid([]byte(val)) {
			val = jsontext.Quote(val)
		}
		w.note("args.split", m.name, name+": "+val, "")
		all[i], changed = member{name: name, key: jsontext.Quote(name), val: val}, true
	}
	return changed
}

func has(all []member, name string) bool {
	return slices.ContainsFunc(all, func(m member) bool { return m.name == name })
}

// memberSchema returns the schema of one member, or nil. Of several matching patterns, the first
// alphabetically decides.
func memberSchema(s *Schema, props map[string]*Schema, name string) *Schema {
	if sub := props[name]; sub != nil {
		return sub
	}
	t := target(s)
	for _, p := range t.PatternProperties {
		if p.Name.MatchString(name) {
			return p.Schema
		}
	}
	if t.Others != nil && t.Others.Bool != nil {
		return nil
	}
	return t.Others
}

func join(all []member) string {
	var out strings.Builder
	out.WriteByte('{')
	for i, m := range all {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(m.key)
		out.WriteByte(':')
		out.WriteString(m.val)
	}
	out.WriteByte('}')
	return out.String()
}
