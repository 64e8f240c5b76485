package parse

import (
	"encoding/json"
	"strings"
)

// appendQuoted appends s as a JSON string.
func appendQuoted(dst []byte, s string) []byte {
	q, err := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil { // a string always marshals
		return append(dst, `""`...)
	}
	return append(dst, q...)
}
