package jsontext

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// Text decodes the JSON string at the span as encoding/json does: broken UTF-8 and lone surrogates
// become U+FFFD. It returns false for any other value.
func Text(doc []byte, at Span) (string, bool) {
	if at.To < at.From+2 || doc[at.From] != '"' {
		return "", false
	}
	return Unquote(doc[at.From+1 : at.To-1]), true
}

// Unquote decodes the inside of a JSON string. It copies once.
func Unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw)
	}
	return sameText(UnquoteBytes(raw))
}

// sameText returns text without a copy: it must not change any more.
func sameText(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }

// UnquoteBytes is Unquote into new bytes.
func UnquoteBytes(raw []byte) []byte { return appendUnquoted(make([]byte, 0, len(raw)), raw) }

// Block decodes the insides of JSON strings, short ones in one allocation. Results never change.
type Block struct{ used []byte }

// Bytes is UnquoteBytes.
func (b *Block) Bytes(raw []byte) []byte {
	const size = 2 << 10
	if len(raw) == 0 || len(raw) > size/8 {
		return UnquoteBytes(raw)
	}
	if cap(b.used)-len(b.used) < len(raw) {
		b.used = make([]byte, 0, max(len(raw), min(2*cap(b.used), size)))
	}
	from := len(b.used)
	b.used = appendUnquoted(b.used, raw)
	return slices.Clip(b.used[from:])
}

// Text is Unquote.
func (b *Block) Text(raw []byte) string { return sameText(b.Bytes(raw)) }

func appendUnquoted(out, raw []byte) []byte {
	if !utf8.Valid(raw) {
		raw = []byte(string([]rune(string(raw)))) // U+FFFD for broken bytes
	}
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(out, raw...)
		}
		out = append(out, raw[:i]...)
		for raw = raw[i:]; len(raw) > 1 && raw[0] == '\\' && plainEscape[raw[1]] != 0; raw = raw[2:] {
			out = append(out, plainEscape[raw[1]]) // often one behind another
		}
		if len(raw) > 0 && raw[0] == '\\' {
			r, n := unicodeEscape(raw)
			out = utf8.AppendRune(out, r)
			raw = raw[n:]
		}
	}
}

// plainEscape maps the second byte of a two-byte escape.
var plainEscape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r',
	't': '\t'}

// unicodeEscape decodes the \uXXXX, or the pair of them, at the start of raw, and returns its length.
// Invalid ones become one broken character.
func unicodeEscape(raw []byte) (rune, int) {
	r := hex4(raw)
	switch {
	case r < 0:
		return utf8.RuneError, 1
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if pair := utf16.DecodeRune(r, hex4(raw[6:])); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}

// hex4 returns the code unit of an escape \uXXXX, or -1.
func hex4(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range raw[2:6] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// AppendString appends s as a JSON string, with as few escapes as possible (no HTML escapes); broken
// UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	dst = append(slices.Grow(dst, len(s)+len(s)/8+2), '"') // code has an escape every ten bytes or so
	done := 0
	for i := run(s, 0); i < len(s); i = run(s, done) {
		dst = append(append(dst, s[done:i]...), '\\')
		done = i + 1
		c := s[i]
		if j := strings.IndexByte("\b\f\n\r\t", c); j >= 0 {
			dst = append(dst, "bfnrt"[j])
		} else if c < ' ' {
			dst = append(dst, 'u', '0', '0', '0'+c>>4, "0123456789abcdef"[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return append(append(dst, s[done:]...), '"')
}

// Quote returns text as a JSON string.
func Quote(text string) string { return string(AppendString(nil, text)) }

// Object returns a JSON object of texts: key, value, key, value …
func Object(pairs ...string) string {
	out := []byte{'{'}
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(AppendString(out, pairs[i]), ':')
		out = AppendString(out, pairs[i+1])
	}
	return string(append(out, '}'))
}

// AppendBytes is AppendString of bytes.
func AppendBytes(dst, s []byte) []byte { return AppendString(dst, sameText(s)) }
