package tools

import (
	"strings"
	"unicode"
)

// spelling is what spellings of a parameter share: without invisible characters, the signs of notations,
// full width, and look-alike letters of another script. A sign that may deny the name, as "!", stays.
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

// latin returns the Latin letter that a Cyrillic one looks like, or r.
func latin(r rune) rune {
	const cyrillic, same = "аеіјорсухѕһԁ", "aeijopcyxshd"
	if at := strings.IndexRune(cyrillic, r); at >= 0 {
		return rune(same[at/len("а")])
	}
	return r
}
