package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// SameJSON reports whether two documents are the same value, to the last digit of whole numbers; the
// order of keys and the spelling of fractions do not count. Text that is no JSON equals only itself.
func SameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, ok := decodeExact(a)
	y, ok2 := decodeExact(b)
	return ok && ok2 && reflect.DeepEqual(x, y)
}

// decodeExact decodes a document. Whole numbers stay text, as float64 would equate long ones.
func decodeExact(doc []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if d.Decode(&v) != nil || !errors.Is(d.Decode(new(any)), io.EOF) {
		return nil, false
	}
	return numbers(v), true
}

func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case json.Number:
		if f, err := strconv.ParseFloat(string(v), 64); err == nil && strings.ContainsAny(string(v), ".eE") {
			return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
		}
	}
	return v
}
