package approvals

import (
	"fmt"
	"regexp"
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

// secrets are texts in a command that a list need not show: what stands behind a name
// for a secret, in the user part of an address, and keys by their form.
var secrets = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`\b(?:bearer|basic)\s+([\w.~+/=-]{6,})`,
	`[\w-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|credential)[\w-]*["']?\s*[=:\s]\s*["']?([^\s"'&;|]{3,})`,
	`://([^\s/@:]*:[^\s/@]+)@`,
	`\b((?:sk|hf|gsk|pk|nvapi|xai|key)[-_][\w-]{6,}|gh[pousr]_\w{10,}|github_pat_\w{10,}|glpat-[\w-]{10,}|xox[a-z]-[\w-]{10,}|AKIA[0-9A-Z]{12,}|eyJ[\w-]{10,}(?:\.[\w-]+)*)`,
}, "|"))

// Masked is text without the secrets that can be told by their form. It is for lists:
// whoever answers has to see the whole call.
func Masked(text string) string {
	var b strings.Builder
	at := 0
	for _, m := range secrets.FindAllStringSubmatchIndex(text, -1) {
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				b.WriteString(text[at:m[i]] + "•••")
				at = m[i+1]
			}
		}
	}
	return b.String() + text[at:]
}
