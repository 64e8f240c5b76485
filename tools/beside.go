package tools

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// controlToken is a token of Harmony, and nothing that only looks so: it has one word.
var controlToken = regexp.MustCompile(`<\|[\w-]+\|>`)

// ofSentence is how many words beside an object are no debris: they may deny the call. gpt-oss leaves
// single words of languages that it does not write in; one with a Latin letter is none of them. Some
// languages have no blanks: many letters are a sentence, too.
const (
	ofSentence = 4
	mostDebris = 10 // letters
)

// remark is the first word beside an object that may deny the call, or begin a second one; or empty.
// What belongs to the frame does not count: signs, brackets, tokens, a content type, what says no more
// than that arguments follow, and the name of the tool; and no word where the tool only reads.
func (w *shaper) remark(around string) string {
	if around == "" || w.harmless() {
		return ""
	}
	around = controlToken.ReplaceAllString(around, " ")
	first, n, letters := "", 0, 0
	for _, word := range strings.FieldsFunc(around,
		func(r rune) bool { return !isWordRune(r) && !strings.ContainsRune("_-.", r) }) {
		if word = strings.Trim(word, "_-."); strings.ContainsFunc(word, unicode.IsLetter) && !w.frames(word) {
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

// beside refuses arguments with a remark beside them.
func (w *shaper) beside(around string) *Refusal {
	word := w.remark(around)
	if word == "" {
		return nil
	}
	return w.refuse(BadJSON,
		jsontext.Quote(word)+" stands beside the object; send nothing but the object, or answer in text")
}

// frames reports whether a word beside arguments says nothing of its own.
func (w *shaper) frames(word string) bool {
	for _, g := range w.rules.Glued {
		if strings.EqualFold(word, g.Text) {
			return true
		}
	}
	name, _ := w.rules.stripPrefixes(word + ".") // the prefix may stand alone
	return neutral(word) || name == "" || key(name) == key(w.tool)
}
