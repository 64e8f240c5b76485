package tools

import (
	"strings"
	"unicode"
)

// spelling is what the name of a parameter has in common with other spellings of it: also without
// what cannot be seen, the marks that notations have around names, full width, and letters of
// another script that look the same. A mark that may deny the name, as "!", stays.
func spelling(given string) string {
	return key(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r):
			return -1
		case r > 0xFF00 && r < 0xFF5F: // full width
			return r - 0xFF01 + '!'
		}
		return latin(r)
	}, strings.Trim(given, keySigns)))
}

// latin is the Latin letter that a Cyrillic one looks like, or r.
func latin(r rune) rune {
	const cyrillic, same = "аеіјорсухѕһԁ", "aeijopcyxshd"
	if at := strings.IndexRune(cyrillic, r); at >= 0 {
		return rune(same[at/len("а")])
	}
	return r
}
