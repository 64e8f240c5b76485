package harmony

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// closesQuote may stand behind something that is quoted.
const closesQuote = ".,;:!?)\"'”’»`"

// Sentence says that rest, behind a control token, is the rest of a sentence, and no header: it
// begins with what closes a quotation, or with a word in small letters that no header knows.
func (w *Words) Sentence(rest string, eof bool) scan.Verdict {
	i := scan.SkipBlanks(rest, 0)
	first, _ := utf8.DecodeRuneInString(rest[i:])
	switch {
	case !utf8.FullRuneInString(rest[i:]):
		return scan.WaitUnless(eof)
	case strings.ContainsRune(closesQuote, first):
		return scan.Yes
	case i == 0 || !unicode.IsLetter(first) || unicode.IsUpper(first):
		return scan.No
	}
	n := scan.WordEnd(rest, i)
	if n == len(rest) && !eof {
		return scan.Wait
	}
	if word := rest[i:n]; w.Channel(word) != "" || scan.AmongFold(word, w.Roles, w.Recipient, w.Types) {
		return scan.No
	}
	return scan.Yes
}
