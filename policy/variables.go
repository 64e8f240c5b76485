package policy

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
)

// variables are those that arguments set at any depth. It is not clear which hold where two
// of them disagree.
func variables(all []argument) (out map[string]string, agreed bool) {
	for _, a := range all {
		if a.kind != environment {
			continue
		}
		for name, value := range variablesOf(a.value) {
			if was, set := out[name]; set && was != value {
				return nil, false
			}
			if out == nil {
				out = map[string]string{}
			}
			out[name] = value
		}
	}
	return out, true
}

var assignment = regexp.MustCompile(`^(?:export\s+)?([A-Za-z_]\w*)=(?s:(.*))$`)

// variablesOf are those that one argument sets: a mapping, or texts such as NAME=value; nil: unknown.
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
		for _, part := range strings.FieldsFunc(v,
			func(r rune) bool { return r == '\n' || r == ' ' || r == ';' || r == ',' }) {
			m := assignment.FindStringSubmatch(part)
			if m == nil {
				return nil
			}
			out[m[1]] = m[2]
		}
		return out
	}
	return nil
}
