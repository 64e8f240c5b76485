package parse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Has says that one of these words, which have small letters, stands in a text: not as a part of a name, as
// json in package.json.
func Has(text string, words []string) bool {
	text = strings.ToLower(text)
	goesOn := func(b byte, is func(byte) bool) bool { return b < utf8.RuneSelf && is(b) }
	return slices.ContainsFunc(words, func(word string) bool {
		for from := 0; ; {
			i := strings.Index(text[from:], word)
			if i < 0 {
				return false
			}
			at, end := from+i, from+i+len(word)
			inFront := at > 0 && goesOn(text[at-1], scan.IsName)
			if behind := end < len(text) && goesOn(text[end], scan.IsWord); !inFront && !behind {
				return true
			}
			from = at + 1
		}
	})
}
