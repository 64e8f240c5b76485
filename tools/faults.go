package tools

import (
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/tidwall/gjson"
)

// Fault is one thing that is wrong with a value.
type Fault struct {
	At      []string // keys and indexes, from the value that was checked
	Keyword string   // "" where no single one says it; those with a name in them have it behind a blank

	Bound string   // what the keyword bounds the value by: a number, a pattern, a format
	Names []string // required: what is missing; additionalProperties: what is too much
	Want  []any    // enum, const
	Types []string // type: those allowed
	Got   string   // type: the one that came
}

// Accepts reports whether a JSON text, which must be valid JSON, is right.
func (s *Schema) Accepts(text string) bool {
	return s.compiled.Validate(value(gjson.Parse(text))) == nil
}

// Faults are what is wrong with a JSON text, which must be valid JSON; none: it is right.
func (s *Schema) Faults(text string) []Fault {
	return found(s.compiled.Validate(value(gjson.Parse(text))))
}

// found are the faults in an error of the library.
func found(err error) []Fault {
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return faults(invalid, nil)
	}
	return nil
}

// value is a JSON text as the library takes it.
func value(v gjson.Result) any {
	switch {
	case v.Type == gjson.Number:
		return json.Number(bounded(v.Raw)) // as text, so that none loses digits
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

// bounded is the text of a number whose exponent is at most 400 on either side: to write out the
// digits of a larger one takes long, and no limit of a schema is beyond it.
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

// faults appends what an error of the library is made of. Which branch of a union was meant is not known, so
// that the union is all that there is to say.
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
	case *kind.Format:
		f.Bound = k.Want
	case *kind.Pattern:
		f.Bound = k.Want
	case *kind.MinLength:
		f.Bound = strconv.Itoa(k.Want)
	case *kind.MaxLength:
		f.Bound = strconv.Itoa(k.Want)
	case *kind.MinItems:
		f.Bound = strconv.Itoa(k.Want)
	case *kind.MaxItems:
		f.Bound = strconv.Itoa(k.Want)
	case *kind.MinContains:
		f.Bound = strconv.Itoa(k.Want)
	case *kind.MaxContains:
		f.Bound = strconv.Itoa(k.Want)
	case *kind.MinProperties:
		f.Bound = strconv.Itoa(k.Want)
	case *kind.MaxProperties:
		f.Bound = strconv.Itoa(k.Want)
	case *kind.Minimum:
		f.Bound = decimal(k.Want)
	case *kind.Maximum:
		f.Bound = decimal(k.Want)
	case *kind.ExclusiveMinimum:
		f.Bound = decimal(k.Want)
	case *kind.ExclusiveMaximum:
		f.Bound = decimal(k.Want)
	case *kind.MultipleOf:
		f.Bound = decimal(k.Want)
	}
	return append(out, f)
}

func decimal(n *big.Rat) string {
	if n.IsInt() && n.Num().BitLen() <= 64 {
		return n.Num().String()
	}
	near, _ := n.Float64()
	return strconv.FormatFloat(near, 'g', -1, 64)
}
