package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/alphabet"
)

// tokenAt looks for a control token at the start of s, in any spelling.
func (t *text) tokenAt(s string, eof bool) (tok alphabet.Token, n int, is verdict) {
	f, v := t.grammar.Alphabet.At(s, eof)
	return f.Token, f.N, v
}

// findToken finds the first token in text at or behind from. open is the offset of a tail that
// could still become one, or len(text).
func (s *Strategies) findToken(text string, from int) (at int, tok alphabet.Token, n, open int) {
	at, f, open := s.header.Alphabet.Find(text, from, false)
	return at, f.Token, f.N, open
}

// ahead is a token that was found further on in the text of a field, or that none is there.
type ahead struct {
	end   int // of the text that was searched
	at    int // -1: none
	found alphabet.Found
	open  int
}

// findToken is that of the alphabet, in v. What was found is kept: a text full of other
// markup must not be searched again at each.
func (t *text) findToken(v string, from int) (at int, tok alphabet.Token, n, open int) {
	a := &t.ahead
	if a.end != t.base+len(v) || a.at >= 0 && a.at < t.base+from || a.at < 0 && a.open < t.base+from {
		*a = ahead{end: t.base + len(v)}
		a.at, a.found, a.open = t.grammar.Alphabet.Find(v, from, false)
		if a.open += t.base; a.at >= 0 {
			a.at += t.base
		}
	}
	if a.at < 0 {
		return -1, alphabet.None, 0, a.open - t.base
	}
	return a.at - t.base, a.found.Token, a.found.N, a.open - t.base
}

// stripTokens removes control tokens from text.
func (s *Strategies) stripTokens(text string) string {
	var b strings.Builder
	for {
		at, _, n, _ := s.findToken(text, 0)
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:at])
		text = text[at+n:]
	}
}
