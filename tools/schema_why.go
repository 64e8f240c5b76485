package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// why tells the model what is wrong with the arguments of a tool: `exec needs "command" (string); got:
// "cmd"`.
func (s *schema) why(tool, args string, found []Fault) string {
	const most = 4
	var faults []string
	for _, f := range found {
		faults = append(faults, s.fault(tool, args, f))
	}
	slices.Sort(faults) // the validator walks maps in any order
	faults = slices.Compact(faults)
	return strings.Join(faults[:min(most, len(faults))], "; ")
}

func (s *schema) fault(tool, args string, f Fault) string {
	at := strings.Join(f.At, ".")
	switch f.Keyword {
	case "required":
		if at == "" {
			return fmt.Sprintf("%s needs %s; got: %s", tool, s.typedNames(f.Names), given(args))
		}
		return fmt.Sprintf("%q needs %s", at, quoted(f.Names))
	case "type":
		return fmt.Sprintf("%q must be %s, not %s", at, strings.Join(f.Types, " or "), f.Got)
	case "enum":
		return fmt.Sprintf("%q must be one of %s", at, jsonList(f.Want))
	case "const":
		return fmt.Sprintf("%q must be %s", at, jsonList(f.Want))
	case "additionalProperties":
		known := slices.Sorted(maps.Keys(s.props))
		return fmt.Sprintf("%s has no parameter %s; it has %s", tool, quoted(f.Names), quoted(known))
	}
	if at == "" {
		at = "arguments"
	}
	if must := bounds[f.Keyword]; must != "" {
		return fmt.Sprintf("%q must %s", at, strings.ReplaceAll(must, "N", scan.Head(f.Bound, 200)))
	}
	return strings.TrimSpace(fmt.Sprintf("%q breaks the schema %s", at, f.Keyword))
}

// bounds are requirements by keyword, with N for the bound.
var bounds = map[string]string{
	"minimum": "be at least N", "maximum": "be at most N", "exclusiveMinimum": "be more than N",
	"exclusiveMaximum": "be less than N",
	"multipleOf":       "be a multiple of N", "minLength": "have at least N characters",
	"maxLength": "have at most N characters",
	"pattern":   "match the regular expression N", "format": "have the format N",
	"minItems": "have at least N elements", "maxItems": "have at most N elements",
	"uniqueItems":   "have no element twice",
	"minProperties": "have at least N members", "maxProperties": "have at most N members",
	"minContains": "have at least N elements that fit", "maxContains": "have at most N elements that fit",
	"anyOf": "fit one of the schemas in its anyOf", "oneOf": "fit exactly one of the schemas in its oneOf",
}

// typedNames lists parameters with their types: "command" (string).
func (s *schema) typedNames(params []string) string {
	out := make([]string, len(params))
	for i, name := range params {
		out[i] = fmt.Sprintf("%q", name)
		if sub := s.props[name]; sub != nil && target(sub).Types != nil {
			out[i] += " (" + strings.Join(target(sub).Types, " or ") + ")"
		}
	}
	return strings.Join(out, ", ")
}

// given lists the names of the given arguments.
func given(args string) string {
	var got []string
	gjson.Parse(args).ForEach(func(k, _ gjson.Result) bool {
		got = append(got, scan.Head(k.String(), 40))
		return len(got) < 12
	})
	if len(got) == 0 {
		return "no arguments"
	}
	return quoted(got)
}

func jsonList(values []any) string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		text, err := json.Marshal(v)
		if err != nil || len(out) == 12 {
			break
		}
		out = append(out, string(text))
	}
	return strings.Join(out, ", ")
}
