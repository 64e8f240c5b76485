package tools

import (
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/tidwall/gjson"
)

// Fault is one mistake in a value.
type Fault struct {
	At      []string // keys and indexes from the root
	Keyword string   // "" if no single one applies; behind a blank the name that some have

	Bound string   // what the keyword compares with: a number, a pattern, a format
	Names []string // required: missing; additionalProperties: surplus
	Want  []any    // enum, const
	Types []string // type: the allowed ones
	Got   string   // type: the given one
}

// Accepts reports whether a valid JSON text satisfies the schema.
func (s *Schema) Accepts(text string) bool {
	return s.compiled.Validate(value(gjson.Parse(text))) == nil
}

// Faults returns the mistakes in a valid JSON text.
func (s *Schema) Faults(text string) []Fault {
	return libraryFaults(s.compiled.Validate(value(gjson.Parse(text))))
}

// libraryFaults returns the faults in an error of the library.
func libraryFaults(err error) []Fault {
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return faults(invalid, nil)
	}
	return nil
}

// value converts JSON to values of the library.
func value(v gjson.Result) any {
	switch {
	case v.Type == gjson.Number:
		return json.Number(bounded(v.Raw)) // as text, which keeps all digits
	case v.IsObject():
		object := make(map[string]any)
		v.ForEach(func(k, e gjson.Result) bool { object[k.String()] = value(e); return true })
		return object
	case v.IsArray():
		list := []any{}
		v.ForEach(func(_, e gjson.Result) bool { list = append(list, value(e)); return true })
		return list
	}
	return v.Value()
}

// bounded limits the exponent of a number to 400: writing out more digits takes long, and no schema has
// such a limit.
func bounded(text string) string {
	const most = 400
	at := strings.IndexAny(text, "eE") + 1
	if at == 0 {
		return text
	}
	switch n, err := strconv.Atoi(text[at:]); {
	case err == nil && -most <= n && n <= most:
		return text
	case text[at] == '-':
		return text[:at] + strconv.Itoa(-most)
	}
	return text[:at] + strconv.Itoa(most)
}

// faults appends the faults of an error. For a union, only the union itself is reported, as the intended
// branch is unknown.
func faults(e *jsonschema.ValidationError, out []Fault) []Fault {
	f := Fault{At: e.InstanceLocation, Keyword: strings.Join(e.ErrorKind.KeywordPath(), " ")}
	if f.Keyword != "anyOf" && f.Keyword != "oneOf" && len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			out = faults(cause, out)
		}
		return out
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		f.Types, f.Got = k.Want, k.Got
	case *kind.Enum:
		f.Want = k.Want
	case *kind.Const:
		f.Want = []any{k.Want}
	case *kind.Required:
		f.Names = k.Missing
	case *kind.Dependency:
		f.Names = k.Missing
	case *kind.DependentRequired:
		f.Names = k.Missing
	case *kind.AdditionalProperties:
		f.Names = slices.Sorted(slices.Values(k.Properties))
	default:
		f.Bound = boundOf(k)
	}
	return append(out, f)
}

// boundOf returns what a keyword compares a value with, or "".
func boundOf(k jsonschema.ErrorKind) string {
	want := reflect.Indirect(reflect.ValueOf(k)).FieldByName("Want")
	if !want.IsValid() {
		return ""
	}
	switch want := want.Interface().(type) {
	case string:
		return want
	case int:
		return strconv.Itoa(want)
	case *big.Rat:
		return decimal(want)
	}
	return ""
}

func decimal(n *big.Rat) string {
	if n.IsInt() && n.Num().BitLen() <= 64 {
		return n.Num().String()
	}
	near, _ := n.Float64()
	return strconv.FormatFloat(near, 'g', -1, 64)
}
