package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
)

// mostSettings is how many arguments of a call may set variables, each for all of its
// commands. What has more is one setting of all of them.
const mostSettings = 4

// variables are those that arguments set at any depth, one mapping for each argument; one
// that is nil where there is none.
func variables(all []argument) (out []map[string]string) {
	for _, a := range all {
		if meaning(a.name) != environment {
			continue
		}
		if set := variablesOf(a.value); len(set) > 0 && !slices.ContainsFunc(out, func(o map[string]string) bool { return maps.Equal(o, set) }) {
			out = append(out, set)
		}
	}
	if len(out) > mostSettings {
		for _, set := range out[1:] {
			maps.Copy(out[0], set)
		}
		out = out[:1]
	}
	if out == nil {
		return []map[string]string{nil}
	}
	return out
}

var assignment = lazyregexp.New(`^(?:export\s+)?([A-Za-z_]\w*)=(?s:(.*))$`)

// variablesOf are those that one argument sets: a mapping, or texts such as NAME=value; nil
// where nobody can tell.
func variablesOf(v any) map[string]string {
	out := map[string]string{}
	switch v := v.(type) {
	case map[string]any:
		if name, is := v["name"].(string); is && v["value"] != nil && len(v) == 2 {
			return map[string]string{name: fmt.Sprint(v["value"])}
		}
		for name, value := range v {
			out[name] = fmt.Sprint(value)
		}
		return out
	case []any:
		for _, e := range v {
			set := variablesOf(e)
			if set == nil {
				return nil
			}
			maps.Copy(out, set)
		}
		return out
	case string:
		for _, part := range strings.FieldsFunc(v, func(r rune) bool { return r == '\n' || r == ' ' || r == ';' || r == ',' }) {
			m := assignment().FindStringSubmatch(part)
			if m == nil {
				return nil
			}
			out[m[1]] = m[2]
		}
		return out
	}
	return nil
}
