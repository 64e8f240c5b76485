package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/tidwall/gjson"
)

// why says in words that a model can act on what is wrong with the arguments of a
// tool: `exec needs "command" (string); got: "cmd"`.
func (s *schema) why(tool, args string, err error) string {
	const most = 4
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return fmt.Sprintf("the arguments of %s cannot be checked", tool)
	}
	var faults []string
	for _, leaf := range leaves(invalid, nil) {
		faults = append(faults, s.fault(tool, args, leaf))
	}
	slices.Sort(faults) // the validator walks maps: its order changes
	faults = slices.Compact(faults)
	return strings.Join(faults[:min(most, len(faults))], "; ")
}

// leaves returns the errors that have no further cause, in order. Of a union that
// has no fitting branch it keeps the union: its branches contradict each other.
func leaves(e *jsonschema.ValidationError, out []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return append(out, e)
	}
	if len(e.Causes) == 0 {
		return append(out, e)
	}
	for _, cause := range e.Causes {
		out = leaves(cause, out)
	}
	return out
}

func (s *schema) fault(tool, args string, e *jsonschema.ValidationError) string {
	at := strings.Join(e.InstanceLocation, ".")
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		if at == "" {
			return fmt.Sprintf("%s needs %s; got: %s", tool, s.typedNames(k.Missing), given(args))
		}
		return fmt.Sprintf("%q needs %s", at, quoted(k.Missing))
	case *kind.Type:
		return fmt.Sprintf("%q must be %s, not %s", at, strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		return fmt.Sprintf("%q must be one of %s", at, jsonList(k.Want))
	case *kind.Const:
		return fmt.Sprintf("%q must be %s", at, jsonList([]any{k.Want}))
	case *kind.AdditionalProperties:
		known := make([]string, 0, len(s.props))
		for name := range s.props {
			known = append(known, name)
		}
		slices.Sort(known)
		return fmt.Sprintf("%s has no parameter %s; it has %s", tool, quoted(k.Properties), quoted(known))
	}
	if at == "" {
		at = "arguments"
	}
	rule := strings.Join(e.ErrorKind.KeywordPath(), " ")
	return strings.TrimSpace(fmt.Sprintf("%q breaks the schema %s", at, rule))
}

// typedNames lists parameters with their types: "command" (string).
func (s *schema) typedNames(params []string) string {
	out := make([]string, len(params))
	for i, name := range params {
		out[i] = fmt.Sprintf("%q", name)
		if sub := s.props[name]; sub != nil && target(sub).Types != nil {
			out[i] += " (" + strings.Join(target(sub).Types.ToStrings(), " or ") + ")"
		}
	}
	return strings.Join(out, ", ")
}

// given lists the names of the arguments that did come.
func given(args string) string {
	var got []string
	gjson.Parse(args).ForEach(func(k, _ gjson.Result) bool {
		got = append(got, clip(k.String(), 40))
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
