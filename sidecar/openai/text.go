package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Text is the JSON string at the span, decoded as encoding/json does it. It is
// false for any other value.
func Text(doc []byte, at Span) (string, bool) { return jsontext.Text(doc, at) }

// AppendString appends s as a JSON string. Nothing is escaped that need not be
// (no HTML escapes); broken UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte { return jsontext.AppendString(dst, s) }

// explain says where and why doc is not JSON: "line 3, column 14: invalid character …". The
// scanner, which found err, knows the depth limit; encoding/json has the better words for
// the rest.
func explain(doc []byte, err error) string {
	var bad *json.SyntaxError
	var found *jsontext.SyntaxError
	if !errors.As(json.Unmarshal(doc, new(json.RawMessage)), &bad) && errors.As(err, &found) {
		return place(doc, found.Offset) + ": " + found.Why
	}
	at := int(bad.Offset)
	if !strings.HasPrefix(bad.Error(), "unexpected end") {
		at-- // the offset is behind the character it complains about
	}
	return place(doc, at) + ": " + bad.Error()
}

// place is where a byte offset lies in doc, for people.
func place(doc []byte, at int) string {
	head := string(doc[:min(max(at, 0), len(doc))])
	line := head[strings.LastIndexByte(head, '\n')+1:]
	return fmt.Sprintf("line %d, column %d", strings.Count(head, "\n")+1, utf8.RuneCountInString(line)+1)
}
