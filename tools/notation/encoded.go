package notation

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"io"
	"mime/quotedprintable"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// escapedByte is a character that was escaped, as \x7b or {.
var escapedByte = regexp.MustCompile(`\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}`)

// encoded reads an object that is encoded as a whole: it begins as a brace does in hex, in
// base64 without its padding, as an escape, an entity, or in quoted-printable.
func encoded(s string) []string {
	s = strings.TrimSpace(s)
	lower := strings.ToLower(s[:min(len(s), len("data:application/json;base64,"))])
	var text []byte
	var err error
	switch {
	case strings.HasPrefix(lower, "7b"):
		text, err = hex.DecodeString(s)
	case strings.HasPrefix(s, "ey"):
		text, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(strings.NewReplacer("+", "-", "/",
			"_").Replace(s), "="))
	case lower == "data:application/json;base64,":
		text, err = base64.StdEncoding.DecodeString(s[len(lower):])
	case strings.HasPrefix(lower, `\x7b`), strings.HasPrefix(lower, `\u007b`):
		text = escapedByte.ReplaceAllFunc([]byte(s), unescaped)
	case strings.HasPrefix(lower, "&#123;"), strings.HasPrefix(lower, "&#x7b;"),
		strings.HasPrefix(lower, "&lbrace;"):
		text = []byte(html.UnescapeString(s))
	case strings.HasPrefix(lower, "=7b"):
		text, err = io.ReadAll(quotedprintable.NewReader(strings.NewReader(s)))
	default:
		return nil
	}
	return only(string(text), s, err == nil && utf8.Valid(text) &&
		strings.HasPrefix(strings.TrimSpace(string(text)), "{"))
}

func unescaped(escape []byte) []byte {
	n, _ := strconv.ParseUint(string(escape[2:]), 16, 16)
	if n >= utf8.RuneSelf {
		return escape // a byte, or a character?
	}
	return []byte{byte(n)}
}

// linePrefix is a number in front of a line in a listing, or what marks a quotation or a change.
var linePrefix = regexp.MustCompile(`^(?:\s*\d+(?:[:|)→]|\t)|[>+|])`)

// quotedLines reads an object whose lines all have a number, or a mark of a quotation, in front.
func quotedLines(s string) []string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	kind := linePrefix.FindString(lines[0])
	if kind == "" {
		return nil
	}
	for i, line := range lines {
		prefix := linePrefix.FindString(line)
		if prefix == "" || sameKind(prefix) != sameKind(kind) {
			return nil
		}
		lines[i] = line[len(prefix):]
	}
	return []string{strings.Join(lines, "\n")}
}

// sameKind is a prefix without its number.
func sameKind(prefix string) string { return strings.TrimLeft(prefix, " \t0123456789") }
