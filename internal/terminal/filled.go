package terminal

import (
	"strings"
	"unicode/utf8"
)

// Filled breaks paragraphs into lines of a width. Empty lines and those that begin with a blank stay.
func Filled(text string, width int) string {
	var out, line strings.Builder
	flush := func() {
		if line.Len() > 0 {
			out.WriteString(line.String() + "\n")
			line.Reset()
		}
	}
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		if l == "" || l[0] == ' ' {
			flush()
			out.WriteString(l + "\n")
			continue
		}
		for word := range strings.FieldsSeq(l) {
			if n := utf8.RuneCountInString(line.String()); n > 0 && n+1+utf8.RuneCountInString(word) > width {
				flush()
			} else if n > 0 {
				line.WriteByte(' ')
			}
			line.WriteString(word)
		}
	}
	flush()
	return strings.TrimRight(out.String(), "\n")
}
