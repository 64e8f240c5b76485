package callcode

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// PairsEnd is the offset of the bracket that closes a block, or -1. Quotes and
// inner brackets protect what is between them.
func PairsEnd(v string, from int) int {
	depth := 0
	quote := byte(0)
	for i := from; i < len(v); i++ {
		switch b := v[i]; {
		case quote != 0:
			if b == quote && v[i-1] != '\\' {
				quote = 0
			}
		case (b == '"' || b == '\'') && v[i-1] == '=':
			quote = b
		case b == '[':
			depth++
		case b == ']':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// Split splits key=value|key=value into keys and values. A bar that no key follows is part of the
// value before it. It says whether a value may hold what was taken for the next pair: its bar is
// written otherwise than the first one, as that of a pipe or a table is, or stands in quotes; or
// quotes around a value hold more of their kind.
func Split(s string, param func(key string) bool) (out []string, unsure bool) {
	apart := strings.HasPrefix(s, " ") // behind the first bar
	before := ""                       // the part in front of the bar
	for _, part := range strings.Split(s, "|") {
		key, value, ok := strings.Cut(part, "=")
		own := strings.HasPrefix(key, " ") || strings.HasSuffix(before, " ")
		key = strings.TrimSpace(key)
		if ok && key != "" && strings.IndexFunc(key, func(r rune) bool { return r >= 0x80 || !scan.IsName(byte(r)) }) < 0 && (len(out) == 0 || param(key)) {
			unsure = unsure || len(out) > 0 && (own != apart || opens(out[len(out)-1]))
			out = append(out, key, value)
		} else if n := len(out); n > 0 {
			out[n-1] += "|" + part
		}
		before = part
	}
	for i := 1; i < len(out); i += 2 {
		text := strings.TrimSpace(out[i])
		out[i] = Unquote(text)
		unsure = unsure || out[i] != text && strings.IndexByte(out[i], text[0]) >= 0
	}
	return out, unsure
}

// opens reports whether a value begins with a quote that does not end it.
func opens(value string) bool {
	value = strings.TrimSpace(value)
	return value != "" && (value[0] == '"' || value[0] == '\'') && Unquote(value) == value
}

// Unquote removes the quotes around a value.
func Unquote(s string) string {
	if n := len(s); n > 1 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}

// Input makes arguments of plain input: a text, or with named an object that holds it. Quotes around
// it are dropped.
func Input(s string, named bool) string {
	if strings.HasPrefix(s, `"`) {
		s = Unquote(s)
	}
	if named {
		return jsontext.Object("input", s)
	}
	return jsontext.Quote(s)
}
