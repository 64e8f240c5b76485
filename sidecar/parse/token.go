package parse

import "github.com/jgavinray/gpt-oss-executor/sidecar/harmony"

// tokenAt looks for a control token at the start of s, in any spelling.
func (t *text) tokenAt(s string, eof bool) (tok harmony.Token, n int, is verdict) {
	f, v := t.grammar.Alphabet.At(s, eof)
	return f.Token, f.N, v
}

// ahead is a token that was found further on in the text of a field, or that none is there.
type ahead struct {
	end   int // of the text that was searched
	at    int // -1: none
	found harmony.Found
	open  int // where a tail begins that may become a token
}

// findToken is that of the alphabet, in v. What was found is kept: a text full of other
// markup must not be searched again at each.
func (t *text) findToken(v string, from int) (at int, tok harmony.Token, n, open int) {
	a := &t.ahead
	if a.end != t.base+len(v) || a.at >= 0 && a.at < t.base+from || a.at < 0 && a.open < t.base+from {
		*a = ahead{end: t.base + len(v)}
		a.at, a.found, a.open = t.grammar.Alphabet.Find(v, from, false)
		if a.open += t.base; a.at >= 0 {
			a.at += t.base
		}
	}
	if a.at < 0 {
		return -1, harmony.None, 0, a.open - t.base
	}
	return a.at - t.base, a.found.Token, a.found.N, a.open - t.base
}

// endToken finds the token that ends a body at v[i:], at or behind from. Where the header is
// spelled as it should be, the body may hold other spellings, as a page or a patch does: they
// end it only if nothing else does.
func (t *text) endToken(v string, i, from int, eof bool) (at int, tok harmony.Token, n, open int) {
	if !t.head.Exact {
		return t.findToken(v, from)
	}
	at, found, open := t.grammar.Alphabet.Find(v, from, true)
	if at >= 0 || !eof {
		return at, found.Token, found.N, open
	}
	for {
		if at, tok, n, open = t.findToken(v, i); at < 0 || !tok.InHeader() {
			return at, tok, n, open
		}
		i = at + n
	}
}
