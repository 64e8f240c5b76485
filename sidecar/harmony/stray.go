package harmony

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// The rest of a damaged header.

// Stray reports whether s begins with a header word of n bytes, followed by a token (maybe on the next
// line), by a glued word or message, or by the end.
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

// Headed reports whether a text begins with a header without its first token or any, or with words in
// brackets as tokens.
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

// Answers reports whether s begins with the header of a tool's result: functions.read to=assistant
func Answers(s string, eof bool) scan.Verdict {
	if is := scan.Starts(s, Namespace, eof); is != scan.Yes {
		return is
	}
	return scan.Starts(s[len(scan.Name(s)):], " to=", eof)
}

// BehindDot returns the length of a name behind a dot that may precede the word, or may become one:
// to.functions.read
func BehindDot(before byte, word string) int {
	if before == '.' {
		word = "." + word
	}
	if at := strings.LastIndex(word, "."+Namespace); at >= 0 {
		return len(word) - at - 1
	}
	return scan.Begun(word, "."+Namespace) - 1
}

// Glued is what follows the word assistant in a header that may be glued to a text.
type Glued struct {
	Channel string // one of the channels
	Token   bool   // a control token: assistant is the role of a header
	To      bool   // " to=": a recipient
	N       int    // length up to what follows
}

// Glued looks at "assistant" at the start of rest, and what makes it markup. glued reports that no blank
// precedes it, known whether a name is that of a tool.
func (g *Grammar) Glued(rest string, glued bool, known func(name string) bool,
	eof bool) (how Glued, is scan.Verdict) {
	is = scan.Starts(rest, Assistant, eof)
	if is != scan.Yes {
		return how, is
	}
	behind := rest[len(Assistant):]
	if is := scan.Starts(behind, Assistant, eof); is == scan.Yes {
		how, is = g.Glued(behind, glued, known, eof)
		how.N += len(Assistant)
		return how, is
	} else if is == scan.Wait && behind != "" {
		return how, is
	}
	if behind != "" && g.Alphabet.Leads(behind[0]) {
		f, is := g.Alphabet.At(behind, eof)
		if is == scan.Yes && f.Token != Channel && f.Token != Message {
			is = scan.No
		}
		return Glued{Token: true, N: len(Assistant)}, is
	}
	if c, is := scan.StartsAny(behind, g.Words.Channels, eof); is != scan.No {
		return Glued{Channel: c, N: len(Assistant) + len(c)}, is
	}
	const most = 12 // bytes of a misspelt channel
	n := 0
	for n < len(behind) && n < most && scan.IsLower(scan.Lower(behind[n])) {
		n++
	}
	if n == len(behind) && n < most {
		return Glued{To: true}, scan.WaitUnless(eof || !glued && n > 0)
	}
	is = scan.Starts(behind[n:], " to=", eof)
	switch {
	case glued || is != scan.Yes:
	case n > 0:
		is = scan.No
	default: // a sentence may continue so, but not with the name of a tool
		is = g.Addressed(behind[1:], known, eof)
	}
	return Glued{To: true, N: len(Assistant) + n + 1}, is
}

// Addressed reports whether a header without tokens at the start of rest names a tool.
func (g *Grammar) Addressed(rest string, known func(name string) bool, eof bool) scan.Verdict {
	h, is := g.Bare(rest, known, eof)
	if is == scan.Yes && !known(h.Name) {
		return scan.No
	}
	return is
}

// Quote returns the quote at the end of a header, which belongs to the body: json ="{…}"
func Quote(header string) string {
	for _, quote := range []string{`\"`, `"`} {
		if strings.HasSuffix(header, quote) {
			return quote
		}
	}
	return ""
}

// Closes returns how many bytes of s close what a header opens in front of its body: json ="{…}",
// read({…})
func Closes(header, s string) int {
	for _, marks := range [...]string{`""`, "()"} {
		if strings.HasSuffix(header, marks[:1]) && strings.HasPrefix(s, marks[1:]) {
			return 1
		}
	}
	return 0
}

// GoesOn reports whether a header continues behind its channel or recipient: with blanks and a
// content-type or message token; behind a recipient also with a channel of calls.
func (g *Grammar) GoesOn(rest string, named, eof bool) scan.Verdict {
	n := scan.SkipBlanks(rest, 0)
	switch {
	case n == len(rest):
		return scan.WaitUnless(eof)
	case !g.Alphabet.Leads(rest[n]):
		return scan.No
	}
	switch f, is := g.Alphabet.At(rest[n:], eof); {
	case is != scan.Yes || f.Token.InHeader():
		return is
	case named && f.Token == Channel:
		channel, is := scan.StartsAny(rest[n+f.N:], g.Words.Channels, eof)
		if channel != Final {
			return is
		}
	}
	return scan.No
}

// Beheaded reports whether v begins within a header whose beginning was lost or stood in the prompt:
// with the name of a tool, v[n:], and the tokens of a header. may reports whether a word may become such
// a name.
func (g *Grammar) Beheaded(v string, named, may func(string) bool, eof bool) (n int, is scan.Verdict) {
	if v[0] == '=' || v[0] == '.' { // of to=functions.
		n++
	}
	end := scan.NameEnd(v, n)
	switch {
	case end == len(v) && !eof && (end == n || may(v[n:end])):
		return n, scan.Wait
	case end == n || !named(v[n:end]):
		return n, scan.No
	}
	i := scan.SkipBlanks(v, end)
	kind, is := scan.StartsAny(v[i:], g.Words.Types, eof)
	if is != scan.Wait {
		is = g.GoesOn(v[i+len(kind):], true, eof)
	}
	return n, is
}

// A server may switch fields within a message.

const (
	maxSplitHeader = 160      // bytes of the rest of a header
	maxSplitBody   = 64 << 10 // bytes of the rest of a body
)

// open is the message that a text ends within.
type open struct {
	at    int  // start of its header; -1: no message
	body  int  // start of its body; -1: within the header
	token int  // start of a cut token; -1: none
	words int  // start of the header's words
	from  From // their part of the header
}

// Continues reports whether next continues a message that a text ends within, which begins at text[at:].
// known reports whether a name is that of a tool. It waits for at most 64 KiB of arguments, or the
// length of text.
func (g *Grammar) Continues(text, next string, known func(name string) bool,
	eof bool) (at int, is scan.Verdict) {
	o := g.within(text)
	if o.token >= 0 {
		switch f, is := g.Alphabet.At(text[o.token:]+next, eof); {
		case is == scan.Wait:
			return 0, scan.Wait
		case f.N > len(text)-o.token && o.at < 0:
			return o.token, scan.Yes
		case f.N > len(text)-o.token:
			return o.at, scan.Yes
		}
	}
	switch {
	case o.at < 0, next == "" && eof && o.body < 0: // nothing follows
		return 0, scan.No
	case o.body >= 0 && o.body < len(text):
		return o.at, g.intoBody(text, o, next, known, eof)
	}
	return o.at, g.toBody(text, o, next, known, eof)
}

// within returns the message that a text ends within.
func (g *Grammar) within(text string) open {
	o := open{at: -1}
	for i := 0; ; {
		j, f, tail := g.Alphabet.Find(text, i, false)
		if o.token = -1; tail < len(text) {
			o.token = tail
		}
		if j < 0 {
			return o
		}
		i = j + f.N
		switch {
		case f.Token == Start, f.Token == Channel && (o.at < 0 || o.body >= 0):
			o = open{at: j, body: -1, token: -1, words: i, from: Behind(f.Token)}
		case f.Token.Closes():
			o.at = -1
		case f.Token == Message && o.at >= 0 && o.body < 0:
			o.body = i
		}
	}
}

// header returns the header of the open message, and whether a body follows.
func (g *Grammar) header(text string, o open) (Header, bool) {
	h, _, is := g.Read(text[o.words:], o.from, true)
	return h, is == scan.Yes && (h.Stop == Message || h.Body)
}

// toBody reports whether next continues a header, or is the body behind it.
func (g *Grammar) toBody(text string, o open, next string, known func(string) bool, eof bool) scan.Verdict {
	near := next[:min(len(next), maxSplitHeader)]
	if at := strings.IndexByte(near, '{'); at >= 0 {
		near = near[:at+1]
	}
	switch h, whole := g.header(text+near, o); {
	case whole: // and none begins in it
		return scan.When(!strings.HasPrefix(h.Flaw, "doubled") && known(h.Recipient) || h.answers())
	case len(near) == len(next) && len(near) < maxSplitHeader:
		return scan.WaitUnless(eof)
	}
	return scan.No
}

// answers reports whether the message is the answer.
func (h *Header) answers() bool { return h.Channel == Final && h.Recipient == "" && h.Flaw == "" }

// intoBody reports whether next continues a body: an answer that it does not repeat, or arguments that
// it completes to a valid object.
func (g *Grammar) intoBody(text string, o open, next string, known func(string) bool, eof bool) scan.Verdict {
	body := strings.TrimLeft(text[o.body:], " \n\r\t")
	h, whole := g.header(text, o)
	switch {
	case whole && h.answers() && body != "":
		is := scan.Starts(next, body, eof)
		if is == scan.Wait {
			return is
		}
		return scan.When(is == scan.No)
	case !whole, !known(h.Recipient), !strings.HasPrefix(body, "{"), len(next) > maxSplitBody:
		return scan.No
	}
	all, object := body+next, Scan{}
	if !strings.Contains(next, "}") || !object.Run(all, eof) {
		return scan.WaitUnless(eof)
	}
	return scan.When(object.End > len(body) && json.Valid([]byte(all[:object.End])))
}
