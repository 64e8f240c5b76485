package notation

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// wide reads UTF-16 and UTF-32 that were taken for bytes: NULs stand between the characters.
func wide(s string) []string {
	if !strings.Contains(s, "\x00") {
		return nil
	}
	var out []string
	for _, read := range []func(string) (string, bool){padded, asciiPadded, utf16Bytes} {
		if text, ok := read(s); ok && (len(out) == 0 || out[0] != text) {
			out = append(out, text)
		}
	}
	return out
}

// padded takes out NULs that stand one or three behind each character, or before it.
func padded(s string) (string, bool) {
	runes := []rune(strings.TrimPrefix(s, "\ufeff"))
	for _, size := range []int{2, 4} {
		for _, at := range []int{0, size - 1} {
			var b strings.Builder
			ok := true
			for i, r := range runes {
				if isChar := i%size == at; isChar {
					b.WriteRune(r)
				} else if ok = ok && r == 0; !ok {
					break
				}
			}
			if ok && b.Len() > 0 && !strings.Contains(b.String(), "\x00") {
				return b.String(), true
			}
		}
	}
	return "", false
}

// asciiPadded takes out one NUL behind each character of ASCII, where no other has one.
func asciiPadded(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == 0 {
			return "", false
		}
		b.WriteByte(c)
		if last := i+1 == len(s); c < utf8.RuneSelf && !last {
			if i++; s[i] != 0 {
				return "", false
			}
		}
	}
	return b.String(), true
}

// utf16Bytes reads characters as the bytes of UTF-16.
func utf16Bytes(s string) (string, bool) {
	var bytes []rune
	for _, r := range s {
		if r > 0xFF {
			return "", false
		}
		bytes = append(bytes, r)
	}
	if len(bytes)%2 == 1 {
		bytes = append(bytes, 0)
	}
	low, high := 0, 1
	if len(bytes) > 0 && bytes[0] == 0 {
		low, high = 1, 0
	}
	var units []uint16
	for i := 0; i < len(bytes); i += 2 {
		units = append(units, uint16(bytes[i+low])|uint16(bytes[i+high])<<8)
	}
	text := string(utf16.Decode(units))
	return text, !strings.ContainsAny(text, "\ufffd\x00")
}

// coloured takes out what colours the signs of an object in a terminal. In a text they are ambiguous.
func coloured(s string) []string {
	if !strings.Contains(s, "\x1b[") {
		return nil
	}
	plain := func(part string) (string, bool) {
		var b strings.Builder
		for {
			before, rest, found := strings.Cut(part, "\x1b[")
			b.WriteString(before)
			if !found {
				return b.String(), true
			}
			n := 0
			for n < len(rest) && (rest[n]-'0' < 10 || rest[n] == ';') {
				n++
			}
			if n == len(rest) || rest[n] != 'm' && rest[n] != 'K' {
				return "", false
			}
			part = rest[n+1:]
		}
	}
	text, ok := split(s, plain, same)
	return only(text, s, ok)
}
