package jsonschema

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// number is the value of a number, nil of anything else.
func number(v any) *big.Rat {
	text, ok := v.(json.Number)
	if !ok {
		return nil
	}
	n, ok := new(big.Rat).SetString(bounded(string(text)))
	if !ok {
		return nil
	}
	return n
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

// equal compares values as JSON Schema does: 1.0 is 1, and the order of keys says nothing.
func equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		x, y := number(a), number(b)
		return x != nil && y != nil && x.Cmp(y) == 0
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, v := range a {
			if other, ok := b[key]; !ok || !equal(v, other) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

// unique compares each with each; texts, of which there may be many, by their value.
func unique(list []any) bool {
	texts := make(map[string]bool, len(list))
	var others []any
	for _, v := range list {
		if s, ok := v.(string); ok {
			if texts[s] {
				return false
			}
			texts[s] = true
			continue
		}
		for _, other := range others {
			if equal(v, other) {
				return false
			}
		}
		others = append(others, v)
	}
	return true
}

// typeOf is the type of a value; of whole numbers it is "number", too.
func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}
