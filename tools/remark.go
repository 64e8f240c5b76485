package tools

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// controlToken matches a Harmony token of one word.
var controlToken = regexp.MustCompile(`<\|[\w-]+\|>`)

// A text beside an object may deny the call from so many words or letters on. gpt-oss inserts single
// words of languages that it does not write in; a word with a Latin letter is none of them. Some
// languages have no blanks, so letters are counted, too.
const (
	ofSentence = 4
	mostDebris = 10 // letters
)

// remark returns the first word beside an object if the text there may deny the call or begin a second
// one; else "". Signs, brackets, tokens, frame words and the name of the tool do not count, and nothing
// counts for a tool that reads.
func (w *shaper) remark(around string) string {
	if around == "" || w.harmless() {
		return ""
	}
	around = controlToken.ReplaceAllString(around, " ")
	first, n, letters := "", 0, 0
	for _, word := range strings.FieldsFunc(around,
		func(r rune) bool { return !isWordRune(r) && !strings.ContainsRune("_-.", r) }) {
		if word = strings.Trim(word, "_-."); strings.ContainsFunc(word, unicode.IsLetter) &&
			!w.isFrameWord(word) {
			if n++; n == 1 {
				first = scan.Head(word, 40)
			}
			letters += utf8.RuneCountInString(word)
			if letters > mostDebris ||
				strings.ContainsFunc(word,
					func(r rune) bool { return r < unicode.MaxASCII && unicode.IsLetter(r) }) {
				n = ofSentence
			}
		}
	}
	if n < ofSentence {
		return ""
	}
	return first
}

// refuseRemark refuses arguments with a remark beside them.
func (w *shaper) refuseRemark(around string) *Refusal {
	word := w.remark(around)
	if word == "" {
		return nil
	}
	return w.refuse(BadJSON,
		jsontext.Quote(word)+" stands beside the object; send nothing but the object, or answer in text")
}

// isFrameWord reports whether a word beside arguments has no meaning of its own.
func (w *shaper) isFrameWord(word string) bool {
	for _, g := range w.rules.Glued {
		if strings.EqualFold(word, g.Text) {
			return true
		}
	}
	name, _ := w.rules.stripPrefixes(word + ".") // the prefix may stand alone
	return neutral(word) || name == "" || key(name) == key(w.tool)
}
