package harmony

import (
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// String is the token as it should be written.
func (t Token) String() string { return "<|" + words[t] + "|>" }

// Closes says that a message ends here.
func (t Token) Closes() bool { return t == End || t == Call || t == Return }

// Opens says that a header begins here.
func (t Token) Opens() bool { return t == Start || t == Channel }

// InHeader says that the token stands within a header, and ends no message.
func (t Token) InHeader() bool { return t == Message || t == Constrain }

// Found is a token in a text.
type Found struct {
	Token Token
	N     int  // its bytes
	Exact bool // spelled as it should be
}

// Alphabet is a set of spellings. It is immutable.
type Alphabet struct {
	alike map[rune]byte
	lead  [256]bool // first bytes of tokens
	pair  Brackets  // empty: none
}

// Brackets stand around the word of a token, in place of its signs: <call>, [call].
type Brackets struct{ Open, Close string }

// Signs are characters that stand for <, | and >.
type TokenSigns struct{ Open, Bar, Close string }

// New makes an alphabet.
func NewAlphabet(s TokenSigns) *Alphabet {
	a := &Alphabet{alike: map[rune]byte{}}
	for _, b := range []byte(`<|&\%`) {
		a.lead[b] = true
	}
	a.lead["＜"[0]] = true
	for sign, list := range map[byte]string{'<': s.Open, '|': s.Bar, '>': s.Close} {
		for _, r := range list {
			a.alike[r] = sign
			a.lead[string(r)[0]] = a.lead[string(r)[0]] || sign != '>'
		}
	}
	return a
}

// Within is the alphabet which takes words in such brackets for tokens, too.
func (a *Alphabet) Within(b Brackets) *Alphabet {
	with := *a
	with.pair = b
	with.lead[b.Open[0]] = true
	return &with
}

// Leads says that a token may begin with b.
func (a *Alphabet) Leads(b byte) bool { return a.lead[b] }

// Plain says that no token can begin in s, the inside of a JSON string.
func (a *Alphabet) Plain(s []byte) bool {
	for i, b := range s {
		if !a.lead[b] {
			continue
		}
		if b == '\\' && i+1 < len(s) && s[i+1] != 'u' && s[i+1] != '\\' {
			continue
		}
		if b >= utf8.RuneSelf && !a.sign(string(s[i:min(len(s), i+utf8.UTFMax)])) {
			continue
		}
		return false
	}
	return true
}

// sign says that s may begin with a character that stands for a sign.
func (a *Alphabet) sign(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return a.alike[r] != 0 || r == '＜' || r == '｜' || !utf8.FullRuneInString(s)
}

// maxToken is how many bytes a token may take, in its longest spelling.
const maxToken = 160

// At looks for a token at the start of s. With eof nothing follows s.
func (a *Alphabet) At(s string, eof bool) (Found, scan.Verdict) {
	if s == "" || !a.lead[s[0]] {
		return Found{}, scan.No
	}
	if s[0] == '<' && len(s) > 1 && s[1] == '|' {
		for t := Start; t <= Return; t++ {
			if w := words[t]; strings.HasPrefix(s[2:], w) && strings.HasPrefix(s[2+len(w):], "|>") {
				return Found{t, len(w) + 4, true}, scan.Yes
			}
		}
	}
	if len(s) > 2 && s[1] == '|' {
		for _, o := range others {
			if is := scan.Starts(s[2:], o.word+"|>", eof); is != scan.No {
				return Found{Token: o.token, N: len(o.word) + 4}, is
			}
		}
	}
	if f, is := a.pair.At(s, eof); is != scan.No {
		return f, is
	}
	m := matcher{a: a, s: s[:min(len(s), maxToken)], eof: eof || len(s) > maxToken}
	return m.token()
}

// At looks for a word in brackets at the start of s.
func (b Brackets) At(s string, eof bool) (Found, scan.Verdict) {
	if b.Open == "" {
		return Found{}, scan.No
	}
	if is := scan.Starts(s, b.Open, eof); is != scan.Yes {
		return Found{}, is
	}
	for t := Start; t <= Return; t++ {
		if is := scan.StartsFold(s[len(b.Open):], words[t]+b.Close, eof); is != scan.No {
			return Found{Token: t, N: len(b.Open) + len(words[t]) + len(b.Close)}, is
		}
	}
	for _, o := range others { // a file that lost them has their numbers only
		id, numbered := strings.CutPrefix(o.word, "reserved_")
		if !numbered {
			continue
		}
		for _, word := range [...]string{id, "PAD" + id, o.word} {
			if is := scan.Starts(s[len(b.Open):], word+b.Close, eof); is != scan.No {
				return Found{Token: o.token, N: len(b.Open) + len(word) + len(b.Close)}, is
			}
		}
	}
	return Found{}, scan.No
}

// Find finds the first token in s at or behind from, or gives -1. open is where a tail
// begins that could still become one, or len(s). With exact only whole spellings count.
func (a *Alphabet) Find(s string, from int, exact bool) (at int, f Found, open int) {
	for i := from; i < len(s); i++ {
		if !a.lead[s[i]] {
			continue
		}
		if exact && s[i] != '<' {
			continue
		}
		switch f, is := a.At(s[i:], false); {
		case is == scan.Yes && (f.Exact || !exact):
			return i, f, len(s)
		case is == scan.Wait && (!exact || beginsExact(s[i:])):
			return -1, Found{}, i
		}
	}
	return -1, Found{}, len(s)
}

// beginsExact says that s, which is short, may become a token in its whole spelling.
func beginsExact(s string) bool {
	for t := Start; t <= Return; t++ {
		if strings.HasPrefix(t.String(), s) {
			return true
		}
	}
	return false
}

// Strip removes the tokens from a text.
func (a *Alphabet) Strip(s string) string {
	var b strings.Builder
	for {
		at, f, _ := a.Find(s, 0, false)
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:at])
		s = s[at+f.N:]
	}
}
