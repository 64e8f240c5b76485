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

// appendMember appends a member of an object whose value is text.
func appendMember(dst []byte, key, value string) []byte {
	dst = append(appendQuoted(dst, key), ':')
	return appendQuoted(dst, value)
}
