package harmony

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// A header without its control tokens: words of a header, with to=NAME among them, in front of a body.
//
//	commentary to=functions.read json {"path":"a"}

const (
	MaxGlue  = 160 // bytes between a recipient and its body
	maxName  = 64  // bytes of a name
	maxNoise = 4   // foreign words and signs there
)

// Bare is such a header.
type Bare struct {
	Name   string // of the recipient
	Body   int    // start of the body
	Debris bool   // foreign words follow it, or it is cut: no text quotes such a header
	Empty  bool   // the arguments are missing
	Next   string // the channel at Body, glued to its message
	Again  bool   // at Body it is repeated again and again
	Tokens bool   // control tokens follow: Read reads it
}

// bare is the state of reading such a header.
type bare struct {
	name   string
	known  bool   // the name is that of a tool
	kind   string // its content type
	raw    int    // start of a body that is no JSON, or 0
	noise  int
	words  int  // among them
	line   int  // start of a line behind header words only, or of a text; 0: none
	debris bool // foreign words follow the name
	again  int  // number of repetitions
	led    bool // other header words precede a known name: prose does not begin so
}

// Bare looks for a header without control tokens at the start of rest. known reports whether a name is
// that of a tool.
func (g *Grammar) Bare(rest string, known func(name string) bool, eof bool) (Bare, scan.Verdict) {
	name, i, is := g.Addressee(rest, known, eof)
	if is != scan.Yes {
		return Bare{}, is
	}
	h := bare{name: name, known: known(name)}
	h.led = h.known && !scan.AmongFold(rest[:scan.WordEnd(rest, 0)], g.Words.Recipient)
	for start := i; ; {
		blanks := i
		i = skipGaps(rest, i)
		switch {
		case i == len(rest) && eof && h.alone():
			typed := h.known && h.kind != "" && strings.HasPrefix(name, Namespace) // no sentence ends so
			return Bare{Name: name, Body: i, Debris: h.debris || typed, Empty: true}, scan.Yes
		case i == len(rest) && eof:
			return h.empty()
		case i == len(rest):
			return Bare{}, scan.Wait
		case i-start > MaxGlue || strings.Count(rest[blanks:i], "\n") > 2:
			return h.rawBody()
		case h.led && g.Words.Glued(rest[i:]) != "": // the header of the next message
			return Bare{Name: name, Body: i, Empty: true, Next: g.Words.Glued(rest[i:])}, scan.Yes
		case g.Alphabet.Leads(rest[i]):
			if _, is := g.Alphabet.At(rest[i:], eof); is != scan.No {
				return Bare{Name: name, Tokens: true}, is
			}
		}
		if rest[i] == '{' || rest[i] == '[' && h.noise == 0 {
			if h.noise > 0 && !h.debris && !h.known {
				return Bare{}, scan.No
			}
			return Bare{Name: name, Body: i, Debris: h.debris}, scan.Yes
		}
		if h.led && h.words == 0 && (strings.Contains(rest[blanks:i], "\n") || h.line+h.noise == 0 &&
			beginsText(rest[i:])) {
			h.line = i
		}
		end, is := g.glue(rest, i, &h, eof)
		switch is {
		case scan.Wait:
			return Bare{}, scan.Wait
		case scan.No:
			if h.known && h.debris && h.kind != "" && h.raw == 0 {
				return Bare{Name: name, Body: i, Debris: true, Empty: true}, scan.Yes
			}
			return h.rawBody()
		}
		if h.again > 1 {
			return Bare{Name: name, Body: i, Empty: true, Again: true}, scan.Yes
		}
		i = end
	}
}

// Addressee reads the words of a header up to the recipient's name, and returns its end.
func (g *Grammar) Addressee(rest string, known func(string) bool,
	eof bool) (name string, end int, is scan.Verdict) {
	words := &g.Words
	for i := 0; i <= MaxGlue; {
		j := wordEnd(rest, i)
		if at := strings.IndexAny(rest[i:j], "＝："); at >= 0 {
			j = i + at
		}
		word := rest[i:j]
		switch {
		case j == len(rest) && !eof:
			if j-i > maxName {
				return "", 0, scan.No
			}
			return "", 0, scan.Wait
		case word == "" || words.Outsider(word):
			return "", 0, scan.No
		case scan.AmongFold(word, words.Recipient):
			return g.assigned(rest, j, known, eof)
		case scan.StartsFold(word, Assistant, true) == scan.Yes && scan.AmongFold(word[len(Assistant):],
			words.Channels):
		case !scan.AmongFold(word, words.Channels, words.Roles) &&
			!(i > 0 && scan.AmongFold(word, words.Types)):
			c := words.Channel(word) // "commentaryto=x"
			if c == "" || !scan.AmongFold(word[len(c):], words.Recipient) {
				return "", 0, scan.No
			}
			return g.assigned(rest, j, known, eof)
		}
		i = scan.SkipBytes(rest, skipGaps(rest, j), " \t:\r\n")
		if i == j || strings.Count(rest[j:i], "\n") > 1 {
			break
		}
	}
	return "", 0, scan.No
}

// assigned reads = or a colon at rest[i:], and the name behind it.
func (g *Grammar) assigned(rest string, i int, known func(string) bool,
	eof bool) (name string, end int, is scan.Verdict) {
	i = scan.SkipBlanks(rest, i)
	sign, n := signAt(rest, i)
	switch {
	case !utf8.FullRuneInString(rest[i:]) && !eof:
		return "", 0, scan.Wait
	case n == 0:
		return "", 0, scan.No
	}
	from := scan.SkipBytes(rest, i+n, " \t\"'`")
	end = from
	for end < len(rest) && gapAt(rest, end) == 0 && (scan.IsName(rest[end]) || rest[end] == '/' ||
		rest[end] == ':' || quotedName(rest, from, end)) {
		end++
	}
	switch {
	case end == len(rest) && !eof:
		return "", 0, scan.Wait
	case end == from, sign == ':' && !known(rest[from:end]):
		return "", 0, scan.No
	}
	end = from + len(g.unglued(rest[from:end], known))
	name = quotes.Replace(rest[from:end])
	if rest[from-1] != '=' && strings.IndexByte("\"'`", rest[from-1]) >= 0 && end < len(rest) &&
		rest[end] == rest[from-1] {
		end++
	}
	return name, end, scan.Yes
}

var quotes = strings.NewReplacer(`"`, "", "'", "")

// unglued removes a glued channel, content type or letters of another script from a name, if only that
// makes it known: readcommentary, readcommentaryjson
func (g *Grammar) unglued(name string, known func(string) bool) string {
	if known(name) {
		return name
	}
	if short := strings.TrimRightFunc(name, isForeign); short != name && known(short) {
		return short
	}
	for _, kind := range append([]string{""}, g.Words.Types...) {
		for _, channel := range append([]string{""}, g.Words.Channels...) {
			if short := strings.TrimSuffix(name, channel+kind); short != "" && len(short) < len(name) &&
				known(short) {
				return short
			}
		}
	}
	return name
}

// quotedName reports whether the quote at s[i:] is part of a name at s[from:]: functions."read"
func quotedName(s string, from, i int) bool {
	quote := s[i]
	if quote != '"' && quote != '\'' || i == from {
		return false
	}
	return s[i-1] == '.' || strings.Contains(s[from:i], "."+string(quote)) &&
		strings.Count(s[from:i], string(quote)) == 1
}

// signAt returns the sign at s[i:] that assigns a name to a recipient, and its length.
func signAt(s string, i int) (sign byte, n int) {
	r, n := utf8.DecodeRuneInString(s[i:])
	switch r {
	case '=', '＝':
		return '=', n
	case ':', '：':
		return ':', n
	}
	return 0, 0
}

// alone reports whether all that follows the name belongs to the header. Behind a whole header, words of
// another script are an answer; with a content type they are debris.
func (h *bare) alone() bool {
	if h.debris {
		return h.known && (h.kind != "" || !h.led)
	}
	return h.words == 0 && (h.led || h.known && strings.HasPrefix(h.name, Namespace))
}

// beginsText reports whether s begins like a text, not a header word: with a capital, or a letter of
// another script.
func beginsText(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(first) || strange(first)
}

// rawBody decides about a body that is no JSON: it needs a content type, and code needs a name.
func (h *bare) rawBody() (Bare, scan.Verdict) {
	if h.raw > 0 && (h.kind == "code" || h.known) {
		return Bare{Name: h.name, Body: h.raw}, scan.Yes
	}
	return h.empty()
}

// empty returns a header in front of a text.
func (h *bare) empty() (Bare, scan.Verdict) {
	if h.line == 0 {
		return Bare{}, scan.No
	}
	return Bare{Name: h.name, Body: h.line, Empty: true}, scan.Yes
}

// The text between a recipient and its body.

// glue reads one word or sign at rest[i:].
func (g *Grammar) glue(rest string, i int, h *bare, eof bool) (end int, is scan.Verdict) {
	words := &g.Words
	end = wordEnd(rest, i)
	if end == len(rest) && !eof {
		return 0, scan.Wait
	}
	word := rest[i:end]
	if t := h.glued(word, words.Types); t > 0 {
		h.kind, h.raw = word[:t], i+t
		return 0, scan.No
	}
	kind := ""
	for _, k := range words.Types {
		if endsFold(word, k) {
			kind = k
		}
	}
	// and no body
	debris := foreign(word) && (h.kind == "json" || scan.AmongFold(strings.TrimFunc(word, isForeign),
		words.Types))
	switch {
	case word == "":
		return h.sign(rest, i)
	case words.Outsider(word):
		return 0, scan.No
	case scan.AmongFold(word, words.Recipient): // it is repeated
		name, end, is := g.assigned(rest, end, func(string) bool { return true }, eof)
		switch {
		case is == scan.Yes && name != h.name:
			is = scan.No
		case is == scan.Yes && h.known:
			h.led = true
			h.again++
		}
		return end, is
	case kind != "" && len(kind) == len(word) && h.kind == "":
		h.kind = kind
		h.raw = scan.SkipBytes(rest, end, " \n\t\r:=")
	case scan.AmongFold(word, words.Channels, words.Between, words.Roles, words.Types):
	case h.raw > 0 && !debris:
		return 0, scan.No
	case foreign(word):
		h.noise, h.kind = max(h.noise, 1), cmp.Or(kind, h.kind)
		h.debris = h.debris || strings.IndexFunc(word, strange) >= 0
	case h.kind != "", h.noise == maxNoise, len(word) > len("parameters"):
		return 0, scan.No
	default:
		h.noise++
		h.words++
		h.kind = kind
	}
	return end, scan.Yes
}

// glued returns the length of a content type that is glued to code: "codeimport math".
func (h *bare) glued(word string, types []string) int {
	for _, t := range types {
		if h.led && h.kind == "" && len(word) > len(t) && strings.HasPrefix(word, t) && !foreign(word) {
			return len(t)
		}
	}
	return 0
}

// sign reads an ASCII sign; others count as letters of words.
func (h *bare) sign(rest string, i int) (end int, is scan.Verdict) {
	b, end := rest[i], scan.SkipBytes(rest, i, senseless)
	switch tag := strings.IndexByte(rest[i:min(len(rest), i+maxTag)], '>') + 1; {
	case b == ':' || b == '=':
		return i + 1, scan.Yes
	case b == '<' && tag > 0 && strings.IndexFunc(rest[i+1:i+tag-1], notLetter) < 0:
		end = i + tag // <unk>
	}
	if h.noise++; h.noise > maxNoise {
		return 0, scan.No
	}
	return max(end, i+1), scan.Yes
}

// maxTag bounds an unknown tag in bytes; senseless are signs that confused models repeat.
const (
	maxTag    = 16
	senseless = "+#~-"
)

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// foreign reports whether a word has signs of other scripts: such words come from the model's other
// languages.
func foreign(word string) bool {
	return strings.IndexFunc(word, isForeign) >= 0
}

func isForeign(r rune) bool { return r >= utf8.RuneSelf }

// strange reports whether r is a letter of another script, or stands at one.
func strange(r rune) bool { return r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsMark(r)) }

// SkipForeign returns the offset behind debris of other scripts at s[i:] directly in front of an object;
// else i: 彩票{"path":"a"}
func SkipForeign(s string, i int, eof bool) (int, scan.Verdict) {
	const most = 24
	j := i
	for j < len(s) && j-i < most && s[j] >= utf8.RuneSelf {
		j++
	}
	switch {
	case j == len(s) && j > i:
		return i, scan.WaitUnless(eof)
	case j < len(s) && s[j] == '{':
		return j, scan.No
	}
	return i, scan.No
}

// marks are the tokenizers' characters for blanks and line ends; some servers leave them in headers.
const marks = "▁ĠĊ"

// gapAt returns the length of a blank or a line end at s[i:], or 0.
func gapAt(s string, i int) int {
	switch b := s[i]; {
	case scan.IsSpace(b):
		return 1
	case b < 0x80:
		return 0
	}
	for _, m := range marks {
		if strings.HasPrefix(s[i:], string(m)) {
			return len(string(m))
		}
	}
	return 0
}

// skipGaps returns the offset of the first byte at or after i outside of gaps.
func skipGaps(s string, i int) int {
	for i < len(s) {
		n := gapAt(s, i)
		if n == 0 {
			break
		}
		i += n
	}
	return i
}

// wordEnd returns the end of the word at s[i:]: letters, digits, _ and -.
func wordEnd(s string, i int) int {
	for i < len(s) && gapAt(s, i) == 0 && (scan.IsWord(s[i]) || s[i] == '-') {
		i++
	}
	return i
}
