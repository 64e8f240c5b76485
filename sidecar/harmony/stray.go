package harmony

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// What is left of a header.

// Stray says whether s begins with a word of a header, and goes on with a token, also in the next line,
// with another one or a message glued to it, or ends. n is how many bytes the word has.
func (g *Grammar) Stray(s string, eof bool) (n int, is scan.Verdict) {
	word, is := scan.StartsAny(s, g.Words.Channels, eof)
	if is == scan.No {
		word, is = Assistant, scan.Starts(s, Assistant, eof)
	}
	if is != scan.Yes {
		return 0, is
	}
	n = len(word)
	rest := strings.TrimPrefix(s[n:], " ")
	first, _ := utf8.DecodeRuneInString(rest)
	switch _, again := scan.StartsAny(s[n:], g.Words.Channels, eof); {
	case rest == "" && (n == len(s) || !eof):
		return n, scan.WaitOr(eof)
	case again != scan.No:
		return n, again
	case utf8.FullRuneInString(rest) && unicode.IsUpper(first) && (n+len(rest) == len(s) || word == Final):
		return n, scan.Yes
	}
	line := strings.TrimLeft(s[n:], "\r\n")
	if line == "" && !eof {
		return n, scan.Wait
	}
	_, is = g.Alphabet.At(line, eof)
	return n, is
}

// Headed says that a text begins with a header whose first token is gone, or all, or whose tokens are
// words in brackets.
func (g *Grammar) Headed(text string) bool {
	text = strings.TrimLeft(text, " \n")
	if text == "" {
		return false
	}
	if _, is := g.Bracketed(text, true); is == scan.Yes {
		return true
	}
	behind, ok := strings.CutPrefix(text, Assistant)
	f, _ := g.Alphabet.At(behind, true)
	return ok && (f.Token == Channel || g.Words.Channel(behind) != "")
}

// Answers says that s begins with the header of what a tool answers: functions.read to=assistant
func Answers(s string, eof bool) scan.Verdict {
	if is := scan.Starts(s, Namespace, eof); is != scan.Yes {
		return is
	}
	return scan.Starts(s[len(scan.Name(s)):], " to=", eof)
}

// BehindDot is how many bytes at the end of a word are a name behind a dot, which may stand in front
// of the word, or may become one: to.functions.read
func BehindDot(before byte, word string) int {
	if before == '.' {
		word = "." + word
	}
	if at := strings.LastIndex(word, "."+Namespace); at >= 0 {
		return len(word) - at - 1
	}
	return scan.Begun(word, "."+Namespace) - 1
}
