package jsonc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Pair is a member of an object to be written.
type Pair struct {
	Key   string
	Value any
}

// Pairs are the members of an object to be written, in order. Other values are a List, a string, an int
// or a bool.
type Pairs []Pair

// Make returns an object of alternating names and values.
func Make(namesAndValues ...any) Pairs {
	var p Pairs
	for i := 0; i < len(namesAndValues); i += 2 {
		p = append(p, Pair{namesAndValues[i].(string), namesAndValues[i+1]})
	}
	return p
}

// List is a list to be written.
type List []any

// Strings returns a list of strings.
func Strings(texts ...string) List {
	list := List{}
	for _, t := range texts {
		list = append(list, t)
	}
	return list
}

// Nested returns a value below the members of a path.
func Nested(value any, path []string) any {
	for i := len(path) - 1; i >= 0; i-- {
		value = Pairs{{path[i], value}}
	}
	return value
}

// Write returns a value as JSON, on its own lines.
func Write(v any) string { return look{unit: "  ", newline: "\n"}.write(v, "") + "\n" }

// look is the style of a text, which new parts follow.
type look struct {
	unit, newline string
	flat          bool // all on one line
}

// write writes a value on a line with this indentation.
func (l look) write(v any, indent string) string {
	switch v := v.(type) {
	case Pairs:
		parts := make([]string, len(v))
		for i, m := range v {
			parts[i] = jsontext.Quote(m.Key) + ": " + l.write(m.Value, indent+l.unit)
		}
		return l.between("{", parts, "}", indent)
	case List:
		parts := make([]string, len(v))
		short := l
		for i, x := range v {
			_, isPairs := x.(Pairs)
			short.flat = short.flat || !isPairs // words of a list stand on one line
			parts[i] = l.write(x, indent+l.unit)
		}
		return short.between("[", parts, "]", indent)
	case string:
		return jsontext.Quote(v)
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	}
	panic(fmt.Sprintf("jsonc: a value of type %T cannot be written", v))
}

func (l look) between(open string, parts []string, end, indent string) string {
	switch {
	case len(parts) == 0:
		return open + end
	case l.flat && open == "[":
		return open + strings.Join(parts, ", ") + end
	case l.flat:
		return open + " " + strings.Join(parts, ", ") + " " + end
	}
	inner := l.newline + indent + l.unit
	return open + inner + strings.Join(parts, ","+inner) + l.newline + indent + end
}

// Same reports whether a value of a text equals the one to be written.
func Same(v *Value, want any) bool {
	switch want := want.(type) {
	case Pairs:
		if v.Kind != Object || len(v.Members) != len(want) {
			return false
		}
		for _, m := range want {
			if got := v.Get(m.Key); got == nil || !Same(got, m.Value) {
				return false
			}
		}
		return true
	case List:
		if v.Kind != Array || len(v.Items) != len(want) {
			return false
		}
		for i, x := range want {
			if !Same(&v.Items[i], x) {
				return false
			}
		}
		return true
	case string:
		return v.Is(String, want)
	case int:
		n, ok := v.Float()
		return ok && n == float64(want)
	case bool:
		return v.Is(Bool, strconv.FormatBool(want))
	}
	return false
}
