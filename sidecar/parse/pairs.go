package parse

import (
	"encoding/json"
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
		case quote != 0 && b == '\\':
			i++
		case quote != 0:
			if b == quote {
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

// Split makes arguments of key=value|key=value. A bar that no key follows is part of the value before
// it; where text stands in front of the first key, all is one text. It says whether a value may hold
// what was taken for the next pair: its bar is written otherwise than the first one, as that of a pipe
// or a table is, or stands in quotes; or whether what quotes say was guessed.
func Split(s string, param func(key string) bool) (args string, unsure bool) {
	apart := strings.HasPrefix(s, " ") // behind the first bar
	var pairs []string
	from := 0 // the last value begins there
	close := func(to int) (open bool) {
		text := strings.TrimSpace(s[from:to])
		value, guessed := Unquote(text)
		pairs[len(pairs)-1], unsure = value, unsure || guessed
		return value == text && text != "" && isQuote(text[0])
	}
	at, before := 0, ""
	for part := range strings.SplitSeq(s, "|") {
		key, value, ok := strings.Cut(part, "=")
		own := strings.HasPrefix(key, " ") || strings.HasSuffix(before, " ")
		key = strings.TrimSpace(key)
		first := len(pairs) == 0
		switch {
		case ok && key != "" && strings.IndexFunc(key,
			func(r rune) bool { return r >= 0x80 || !scan.IsName(byte(r)) }) < 0 && (first || param(key)):
			if !first {
				unsure = close(at-1) || unsure || own != apart
			}
			pairs = append(pairs, key, "")
			from = at + len(part) - len(value)
		case first && strings.TrimSpace(part) != "":
			return jsontext.Quote(strings.TrimSpace(s)), true
		}
		at, before = at+len(part)+1, part
	}
	if len(pairs) > 0 {
		close(len(s))
	}
	return jsontext.Object(pairs...), unsure
}

func isQuote(b byte) bool { return b == '"' || b == '\'' }

// Unquote is the text in quotes, if they are around all of s: as JSON reads it, or as it stands. It is
// guessed where escapes may be the text's own, or quotes of this kind stand in it; those keep all.
func Unquote(s string) (text string, guessed bool) {
	if n := len(s); n < 2 || !isQuote(s[0]) || s[n-1] != s[0] {
		return s, false
	}
	body := s[1 : len(s)-1]
	guessed = strings.Contains(strings.ReplaceAll(body, `\"`, ""), `\`)
	switch {
	case s[0] == '"' && json.Unmarshal([]byte(s), &text) == nil:
		return text, guessed
	case strings.IndexByte(body, s[0]) >= 0:
		return s, true
	}
	return body, guessed
}

// Input makes arguments of plain input: a text, or with named an object that holds it. Quotes around
// it are dropped; whether they were its own may be a guess.
func CodeInput(s string, named bool) (args string, guessed bool) {
	if strings.HasPrefix(s, `"`) {
		s, guessed = Unquote(s)
	}
	if named {
		return jsontext.Object("input", s), guessed
	}
	return jsontext.Quote(s), guessed
}
