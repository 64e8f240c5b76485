package approvals

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is text in which everything that cannot be seen, or changes how the rest is
// seen, stands as ⟨U+202E⟩; so does the bracket itself, so that no text can look like
// an escape. Line breaks stay.
func Visible(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "⟨0x%02X⟩", text[0])
		case r == '\n' || seen(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
		text = text[n:]
	}
	return b.String()
}

// seen reports whether a character has ink of its own. Fillers and variation selectors
// are letters and marks to Unicode, and the blank of Braille is a symbol.
func seen(r rune) bool {
	return unicode.IsPrint(r) && r != '⟨' && r != '⟩' && r != '\u2800' &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Foreign is each visible character beyond ASCII in a text once, with its number: one that
// looks like another shows there.
func Foreign(text string) []string {
	var out []string
	for _, r := range text {
		if r > unicode.MaxASCII && seen(r) {
			if name := fmt.Sprintf("%c U+%04X", r, r); !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
		if len(out) == maxForeign {
			return append(out, "…")
		}
	}
	return out
}

// maxForeign is how many of them are of use to a reader.
const maxForeign = 16
