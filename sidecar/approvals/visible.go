package approvals

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible replaces everything that cannot be seen, or changes how the rest is seen, by ⟨U+202E⟩; the
// bracket too, so that no text can look like an escape. Line breaks stay.
func Visible(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "⟨0x%02X⟩", text[0])
		case r == '\n' || isVisible(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
		text = text[n:]
	}
	return b.String()
}

// isVisible reports whether a character has ink of its own. Fillers and variation selectors are
// letters and marks to Unicode, and the blank of Braille is a symbol.
func isVisible(r rune) bool {
	return unicode.IsPrint(r) && r != '⟨' && r != '⟩' && r != '\u2800' &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Parts splits a text: the odd parts are visible characters beyond ASCII.
func Parts(text string) (out []string) {
	from, foreign := 0, false
	for i, r := range text {
		if isForeign(r) != foreign {
			out, from, foreign = append(out, text[from:i]), i, !foreign
		}
	}
	return append(out, text[from:])
}

// Foreign lists the visible characters beyond ASCII in a text, with their numbers: a character that
// looks like another shows there. Those of words that mix Latin with another script come first.
func Foreign(text string) []string {
	var mixed, out []string
	for from := 0; from < len(text); {
		word := text[from:]
		if n := strings.IndexFunc(word, endsWord); n >= 0 {
			_, end := utf8.DecodeRuneInString(word[n:])
			word = word[:n+end]
		}
		from += len(word)
		list := &out
		if isMixed(word) {
			list = &mixed
		}
		for _, r := range word {
			if name := fmt.Sprintf("%c U+%04X", r, r); isForeign(r) && !slices.Contains(*list, name) &&
				len(*list) <= maxForeign {
				*list = append(*list, name)
			}
		}
	}
	for _, name := range out {
		if !slices.Contains(mixed, name) {
			mixed = append(mixed, name)
		}
	}
	if len(mixed) > maxForeign {
		mixed = append(mixed[:maxForeign], "…")
	}
	return mixed
}

func isForeign(r rune) bool { return r > unicode.MaxASCII && r != utf8.RuneError && isVisible(r) }

// endsWord reports whether a character separates words. Invisible ones do not.
func endsWord(r rune) bool {
	return (isVisible(r) || unicode.IsSpace(r)) && !unicode.In(r, unicode.L, unicode.M, unicode.Nd)
}

// isMixed reports whether a word has letters of Latin and of another script.
func isMixed(word string) bool {
	other := func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) }
	return strings.ContainsFunc(word, other) &&
		strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
}

// maxForeign is how many of them help a reader.
const maxForeign = 16
