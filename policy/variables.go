package policy

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
)

// mergeVariables returns the variables that arguments set at any depth; agreed is false where two of them
// disagree.
func mergeVariables(all []argument) (out map[string]string, agreed bool) {
	for _, a := range all {
		if a.kind != environment {
			continue
		}
		for name, value := range parseVariables(a.value) {
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

// parseVariables returns the variables that one argument sets, as a mapping or as texts such as NAME=value;
// nil: unknown.
func parseVariables(v any) map[string]string {
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
			set := parseVariables(e)
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
