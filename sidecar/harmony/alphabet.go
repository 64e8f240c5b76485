// Package harmony knows the tokens and headers of the Harmony format in all their spellings, and where a
// JSON value ends in a growing text. It reads neither calls nor arguments, and is pure.
//
// Source of the format: https://github.com/openai/harmony.
package harmony

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// String returns the exact spelling.
func (t Token) String() string { return "<|" + words[t] + "|>" }

// Closes reports whether the token ends a message.
func (t Token) Closes() bool { return t == End || t == Call || t == Return }

// Opens reports whether the token begins a header.
func (t Token) Opens() bool { return t == Start || t == Channel }

// InHeader reports whether the token stands within a header.
func (t Token) InHeader() bool { return t == Message || t == Constrain }

// Found is a token in a text.
type Found struct {
	Token Token
	N     int  // length in bytes
	Exact bool // in the exact spelling
}

// Alphabet is an immutable set of spellings.
type Alphabet struct {
	alike map[rune]byte
	lead  [256]bool // first bytes of tokens
	pair  Brackets  // empty: none
}

// Brackets replace the signs around the word of a token: <call>, [call].
type Brackets struct{ Open, Close string }

// Signs are characters that replace <, | and >.
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

// Within returns the alphabet that also takes words in these brackets for tokens.
func (a *Alphabet) Within(b Brackets) *Alphabet {
	with := *a
	with.pair = b
	with.lead[b.Open[0]] = true
	return &with
}

// Leads reports whether a token may begin with b.
func (a *Alphabet) Leads(b byte) bool { return a.lead[b] }

// Plain reports whether no token can begin in s, the inside of a JSON string.
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

// sign reports whether s may begin with a character that replaces a sign.
func (a *Alphabet) sign(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return a.alike[r] != 0 || r == '＜' || r == '｜' || !utf8.FullRuneInString(s)
}

// maxToken bounds a token in its longest spelling, in bytes.
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
		for _, o := range otherTokens {
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
	rest := s[len(b.Open):]
	for t := Start; t <= Return; t++ {
		if is := b.close(rest, words[t], eof); is != scan.No {
			return Found{Token: t, N: len(b.Open) + len(words[t]) + len(b.Close)}, is
		}
	}
	for _, o := range otherTokens { // a tokenizer file without them has only their numbers
		id, numbered := strings.CutPrefix(o.word, "reserved_")
		if !numbered {
			continue
		}
		for _, word := range [...]string{id, "PAD" + id, o.word} {
			if is := b.close(rest, word, eof); is != scan.No {
				return Found{Token: o.token, N: len(b.Open) + len(word) + len(b.Close)}, is
			}
		}
	}
	return Found{}, scan.No
}

// close reports whether s begins with the word and the closing bracket, in any case.
func (b Brackets) close(s, word string, eof bool) scan.Verdict {
	if is := scan.StartsFold(s, word, eof); is != scan.Yes {
		return is
	}
	return scan.StartsFold(s[len(word):], b.Close, eof)
}

// Find returns the first token in s at or after from, or -1. open is the start of a tail that may become
// a token, or len(s). With exact, only exact spellings count.
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

// beginsExact reports whether s, which is short, may become a token in the exact spelling.
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

// entities are names of signs in HTML.
var entities = [...]struct {
	name string
	sign byte
}{{"lt", '<'}, {"gt", '>'}, {"vert", '|'}, {"verbar", '|'}, {"VerticalLine", '|'}, {"LT", '<'}, {"GT", '>'}}

// char returns the ASCII character at the start of s, in any spelling, and its length, or 0. more
// reports that s is too short to tell.
func (a *Alphabet) char(s string) (b byte, n int, more bool) {
	if s == "" {
		return 0, 0, true
	}
	switch c := s[0]; {
	case c == '&':
		return entity(s)
	case c == '\\':
		return escape(s)
	case c == '%':
		return number(s, 1, 2)
	case c < utf8.RuneSelf:
		return c, 1, false
	case !utf8.FullRuneInString(s):
		return 0, 0, true
	}
	r, size := utf8.DecodeRuneInString(s)
	if wide := '！'; r >= wide && r <= '～' { // the full-width forms of ! to ~
		return byte(r-wide) + '!', size, false
	}
	return a.alike[r], size, false
}

// entity reads &lt; &#60; &#x3c; and the same with &amp; for &.
func entity(s string) (b byte, n int, more bool) {
	rest := s[1:]
	if strings.HasPrefix(rest, "amp;") {
		rest = rest[len("amp;"):]
	} else if strings.HasPrefix("amp;", rest) {
		return 0, 0, true
	}
	skipped := len(s) - len(rest)
	const longest = 12
	end := strings.IndexByte(rest[:min(len(rest), longest)], ';')
	if end < 0 {
		return 0, 0, len(rest) < longest && entityLike(rest)
	}
	name := rest[:end]
	if digits, ok := strings.CutPrefix(name, "#"); ok {
		base := 10
		if hex := strings.TrimLeft(digits, "xX"); hex != digits {
			digits, base = hex, 16
		}
		code, err := strconv.ParseUint(digits, base, 7)
		if err != nil {
			return 0, 0, false
		}
		return byte(code), skipped + end + 1, false
	}
	for _, e := range entities {
		if e.name == name {
			return e.sign, skipped + end + 1, false
		}
	}
	return 0, 0, false
}

// entityLike reports whether s may be the rest of an entity.
func entityLike(s string) bool {
	if strings.HasPrefix(s, "#") {
		return strings.Trim(s[1:], "xX0123456789abcdefABCDEF") == ""
	}
	for _, e := range entities {
		if strings.HasPrefix(e.name, s) {
			return true
		}
	}
	return false
}

// escape reads \u003c, \x3c, and a sign behind a backslash; also with two backslashes.
func escape(s string) (b byte, n int, more bool) {
	i := 1
	if len(s) > 1 && s[1] == '\\' {
		i = 2
	}
	switch {
	case len(s) == i:
		return 0, 0, true
	case s[i] == 'u':
		return number(s, i+1, 4)
	case s[i] == 'x':
		return number(s, i+1, 2)
	case strings.IndexByte("<|>", s[i]) >= 0:
		return s[i], i + 1, false
	}
	return 0, 0, false
}

// number reads the hexadecimal digits of a character at s[i:].
func number(s string, i, digits int) (b byte, n int, more bool) {
	end := i + digits
	if len(s) < end {
		return 0, 0, strings.Trim(s[i:], "0123456789abcdefABCDEF") == ""
	}
	code, err := strconv.ParseUint(s[i:end], 16, 16)
	if err != nil || code >= utf8.RuneSelf {
		return 0, 0, false
	}
	return byte(code), end, false
}

// matcher reads one token, sign by sign.
type matcher struct {
	a    *Alphabet
	s    string
	at   int
	eof  bool
	wait bool // s ended in front of the next sign
}

// gaps are blanks between the parts of a token.
const gaps = 2

// token reads < | word | >. One of the four signs may be missing, or both behind the word if no word
// continues there. One letter may be wrong if no sign is missing. A word alone is no token.
func (m *matcher) token() (Found, scan.Verdict) {
	angle := m.take('<')
	m.blanks(angle)
	bar := m.bars()
	if !angle && !bar {
		return m.none()
	}
	m.blanks(angle)
	word := m.word()
	switch {
	case word == "":
		return m.none()
	case !bar && !begins(word):
		return Found{}, scan.No
	}
	end := m.at
	m.blanks(true)
	barBehind := m.bars()
	if barBehind {
		end = m.at
	}
	m.blanks(barBehind)
	angleBehind := m.take('>')
	switch {
	case m.wait:
		return m.none()
	case angleBehind:
		end = m.at
	}
	signs := count(angle, bar, barBehind, angleBehind)
	t := named(word, signs == 4)
	if t == None || signs < 3 && !(angle && bar && m.ends(end)) {
		return Found{}, scan.No
	}
	return Found{Token: t, N: end}, scan.Yes
}

// begins reports whether the name of a token begins with word.
func begins(word string) bool {
	return slices.ContainsFunc(words[Start:], func(name string) bool { return strings.HasPrefix(name, word) })
}

// none is the result for s if it is no token so far.
func (m *matcher) none() (Found, scan.Verdict) {
	if m.wait && !m.eof {
		return Found{}, scan.Wait
	}
	return Found{}, scan.No
}

// ends reports whether a word ends in front of s[i:].
func (m *matcher) ends(i int) bool {
	return i == len(m.s) || !isLetter(m.s[i]) && m.s[i] != '_' && (m.s[i] < '0' || m.s[i] > '9')
}

func count(signs ...bool) (n int) {
	for _, s := range signs {
		if s {
			n++
		}
	}
	return n
}

// named returns the token of a name. With all signs present, one letter may be wrong, surplus, missing
// or transposed.
func named(word string, whole bool) Token {
	if i := slices.Index(words[:], word); i > 0 {
		return Token(i)
	}
	for t := Start; whole && t <= Return; t++ {
		if len(words[t]) >= len("start") && Near(word, words[t]) {
			return t
		}
	}
	return None
}

// Near reports whether one edit turns a into b.
func Near(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a) > len(b)+1 {
		return false
	}
	i := 0
	for i < len(b) && a[i] == b[i] {
		i++
	}
	switch {
	case len(a) > len(b):
		return a[i+1:] == b[i:]
	case i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]:
		return true
	}
	return i < len(a) && a[i+1:] == b[i+1:]
}

// take reads one sign if it is next.
func (m *matcher) take(sign byte) bool {
	m.invisible()
	b, n, more := m.a.char(m.s[m.at:])
	if more && !m.eof {
		m.wait = true
		return false
	}
	if b != sign {
		return false
	}
	m.at += n
	return true
}

// bars reads one or two bars.
func (m *matcher) bars() bool {
	if m.wait || !m.take('|') {
		return false
	}
	if m.at < len(m.s) {
		m.take('|')
	}
	return true
}

// blanks skips blanks within a token.
func (m *matcher) blanks(inside bool) {
	for n := 0; inside && !m.wait && n < gaps && m.at < len(m.s); n++ {
		if m.s[m.at] != ' ' {
			return
		}
		m.at++
	}
}

// maxWord bounds the name of a token, with one surplus letter.
const maxWord = len("constrain") + 1

// word reads the name of a token.
func (m *matcher) word() string {
	var word [maxWord + 1]byte
	n := 0
	for !m.wait {
		m.invisible()
		b, size, more := m.a.char(m.s[m.at:])
		switch {
		case more && !m.eof:
			m.wait = n <= maxWord
			return string(word[:n])
		case !isLetter(b):
			return string(word[:n])
		case n > maxWord-1:
			return ""
		}
		word[n] = b | 0x20
		n++
		m.at += size
	}
	return ""
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// invisible skips invisible characters within a token.
func (m *matcher) invisible() {
	for m.at > 0 && m.at < len(m.s) && m.s[m.at] >= 0x80 {
		rest := strings.TrimLeft(m.s[m.at:], scan.Invisible)
		if len(rest) == len(m.s)-m.at {
			return
		}
		m.at = len(m.s) - len(rest)
	}
}
