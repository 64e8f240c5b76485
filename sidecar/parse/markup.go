package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// markupOpening looks for control tokens, whole or stripped.
func (t *text) markupOpening(v string, j int, eof bool) (opening, verdict) {
	switch {
	case t.r.s.harmony == nil:
		return opening{}, no
	case t.unmarked:
		return t.plainHeader(v, j, eof)
	}
	if t.grammar.Alphabet.Leads(v[j]) {
		if tok, n, is := t.tokenAt(v[j:], eof); is != no {
			// the rest of a header
			if is == yes && tok == harmony.Constrain && (t.firstAt(v, j) || t.lineStart(v, j)) {
				return opening{markup: true, begin: func(t *text, _ string,
					_ int) {
					t.openHeader(harmony.FromStart)
				}}, yes
			}
			if is == yes {
				switch t.inQuotation(v, j, j+n, eof) {
				case yes:
					return opening{n: n}, no
				case wait:
					is = wait
				}
			}
			return opening{n: n, markup: true, begin: (*text).beginToken}, is
		}
	}
	if t.grammar == t.r.s.header {
		if bare, is := t.grammar.Bracketed(v[j:], eof); is != no {
			return opening{markup: true, begin: func(t *text, _ string,
				_ int) {
				t.grammar, t.ahead.end = bare, -1
			}}, is
		}
	}
	switch {
	case v[j] == '<':
		return t.thinkTag(v, j, eof)
	case t.mayBeginHeader(v, j):
		return t.headerAt(v, j, eof)
	case v[j] == 'a':
		return t.gluedAssistant(v, j, eof)
	}
	return opening{}, no
}

// mayBeginHeader reports whether a header may begin at v[j:]: at the start of a word, or behind a letter
// of another script, where gluedAssistant looks for the word assistant.
func (t *text) mayBeginHeader(v string, j int) bool {
	before := t.prevByte(v, j)
	return (!scan.IsWord(before) || before >= utf8.RuneSelf &&
		!strings.HasPrefix(v[j:], harmony.Assistant)) && t.r.s.header.Heads(v[j:])
}

// headerAt looks for a header without control tokens at v[j:], outside of a tag.
func (t *text) headerAt(v string, j int, eof bool) (opening, verdict) {
	o, is := t.recipientHeader(v[j:], 0, eof)
	if is == yes && t.inTag(v[:j]) {
		is = no
	}
	return o, is
}

// inTag reports whether s ends within a tag: <message role="user" to=
func (t *text) inTag(s string) bool {
	p := t.front
	p.Add(s)
	text := p.String()
	tag := text[strings.LastIndexByte(text, '<')+1:]
	return tag != "" && len(tag) < len(text) && scan.IsLower(tag[0]) && strings.Contains(tag, `="`) &&
		!strings.ContainsAny(tag, ">\n")
}

// plainHeader looks for a header without control tokens in the body of a message.
func (t *text) plainHeader(v string, j int, eof bool) (opening, verdict) {
	if !t.mayBeginHeader(v, j) {
		return opening{}, no
	}
	switch h, is := t.r.s.header.Bare(v[j:], t.r.names.Known, eof); {
	case is == wait:
		return opening{}, wait
	case is == no, h.Tokens, !t.r.names.Known(h.Name):
		return opening{}, no
	}
	return t.headerAt(v, j, eof)
}

// literalOpening looks for the opening literals of blocks.
func (t *text) literalOpening(v string, j int, eof bool) (opening, verdict) {
	again := t.blockAt(j)
	for _, op := range t.r.s.openers[scan.Lower(v[j])] {
		if again && op.st.Priority >= t.tried.Priority || op.st.LineStart && !t.lineStart(v, j) {
			continue
		}
		is := scan.StartsFold(v[j:], op.lit, eof)
		if is == no && eof && op.cut(v[j:]) {
			return opening{n: len(v) - j, begin: op.begin}, yes
		}
		if is == yes {
			is = op.begins(t, v, j, eof)
		}
		switch is {
		case yes:
			return opening{n: len(op.lit), begin: op.begin}, yes
		case wait:
			return opening{n: len(op.lit)}, wait
		}
	}
	return opening{}, no
}

// Some servers drop the control tokens and leave their words glued to the text:
//
//	analysisWe need the file.assistantcommentary to=functions.read json{"path":"a"}assistantfinalDone.

// strippedHeader looks for such words at the start of a line v[i:]. v[p:] is its first byte that is no
// blank; first reports that nothing came before.
func (t *text) strippedHeader(v string, i, p int, first, eof bool) (opening, verdict) {
	if !t.readsHarmony() {
		return opening{}, no
	}
	rest := v[p:]
	if !t.r.s.header.Begins(rest) {
		return opening{}, no
	}
	if o, is := t.recipientHeader(rest, p-i, eof); is != no {
		return o, is
	}
	c, is := scan.StartsAny(rest, t.r.s.header.Words.Channels, eof)
	switch {
	case is != yes:
		return opening{}, is
	case first:
		return t.firstWord(rest, c, p-i, eof)
	}
	return opening{n: p - i, begin: beginWordHeader, markup: true}, t.grammar.GoesOn(rest[len(c):], false,
		eof)
}

// truncatedHeader opens a header that lost its beginning, at the start of a line v[i:]. v[p:] is its
// first byte that is no blank.
func (t *text) truncatedHeader(v string, i, p int, eof bool) (opening, verdict) {
	if !t.readsHarmony() || t.r.c.Open() {
		return opening{}, no
	}
	n, is := t.grammar.Beheaded(v[p:], t.r.names.Named, t.r.names.IsPrefix, eof)
	return opening{n: p + n - i, markup: true, begin: func(t *text, v string, n int) {
		beginWordHeader(t, v, n)
		t.at = int(harmony.FromRecipient)
	}}, is
}

// firstWord reads a reply that begins with the name of a channel.
func (t *text) firstWord(rest, channel string, indent int, eof bool) (opening, verdict) {
	n := len(channel)
	if n == len(rest) {
		return opening{}, scan.WaitUnless(eof)
	}
	glued := opening{n: indent + n, begin: beginChannel(channel), markup: true}
	next := rest[n]
	if t.grammar.Alphabet.Leads(next) {
		if _, _, is := t.tokenAt(rest[n:], eof); is != no || next == '<' {
			return opening{n: indent, begin: beginBareHeader, markup: true}, is
		}
	}
	if is := t.grammar.GoesOn(rest[n:], false, eof); is != no {
		return opening{n: indent, begin: beginBareHeader, markup: true}, is
	}
	switch {
	case next == ' ' || next == ':' || next == '\n':
		j := scan.SkipSpace(rest, n+1)
		switch {
		case j == len(rest) && !eof:
			return opening{}, wait
		case channel == harmony.Final && j < len(rest) && (rest[j] == '{' || rest[j] == '['):
			return glued, yes
		case channel == harmony.Analysis:
			return opening{n: indent, begin: func(t *text, _ string, _ int) { t.enter(inMaybeHeader) }}, yes
		}
		return opening{}, no
	case t.r.s.header.Words.Glued(rest[n:]) != "": // two channels: the second counts
		channel = t.r.s.header.Words.Glued(rest[n:])
		return opening{n: indent + n + len(channel), begin: beginChannel(channel), markup: true}, yes
	case scan.IsLower(next) || strings.IndexByte("-_.,=(/", next) >= 0:
		return opening{}, no
	}
	return glued, yes
}

// beginBareHeader reads a header without its opener: "final<|message|>".
func beginBareHeader(t *text, _ string, _ int) {
	t.settleLead()
	t.openHeader(harmony.FromChannel)
}

// beginChannel enters the body of a message whose header was a glued word.
func beginChannel(channel string) func(*text, string, int) {
	return func(t *text, _ string, n int) {
		if len(t.lead) > 0 && t.r.s.mayBeThought(string(t.lead)) {
			t.settle(Thought)
		}
		t.settleLead()
		t.note(t.r.s.harmony, 0, n, Dropped, "the word "+channel+" is a channel")
		t.stripMessage(channel)
	}
}

// stripMessage enters a message after a stripped header.
func (t *text) stripMessage(channel string) {
	t.r.result.Marked = true
	t.head = head{Header: harmony.Header{Channel: channel}, stripped: true}
	if t.unterminated {
		t.enter(inInvented)
		return
	}
	switch channel {
	case harmony.Analysis:
		t.message(Thought, false)
	case harmony.Commentary:
		t.enter(inNameless)
		return
	default:
		t.message(Text, false)
	}
	t.trim = true
}

// gluedAssistant looks for a glued "assistant…" in the middle of a line.
func (t *text) gluedAssistant(v string, j int, eof bool) (opening, verdict) {
	b := t.prevByte(v, j)
	how, is := t.grammar.Glued(v[j:], b == '\n' || !scan.IsSpace(b), t.r.names.Known, eof)
	switch {
	case is != yes:
		return opening{}, is
	case how.Token:
		return opening{n: how.N, markup: true, begin: func(*text, string, int) {}}, yes
	case how.To:
		return t.recipientHeader(v[j+how.N:], how.N, eof)
	}
	rest := v[j+len(harmony.Assistant):]
	if o, is := t.recipientHeader(rest, len(harmony.Assistant), eof); is == wait || is == yes &&
		(how.Channel != harmony.Final || t.grammar.Addressed(rest, t.r.names.Known, eof) == yes) {
		return o, is
	}
	name, end, is := t.r.s.header.Addressee(rest, t.r.names.Known, eof)
	switch {
	case is == wait:
		return opening{}, wait
	case is == no:
		return opening{n: how.N, markup: true, begin: beginChannel(how.Channel)}, yes
	}
	if channel, body := t.grammar.Words.ToChannel(rest, name, end, t.r.names.Named); channel != "" {
		if !eof && body == end && len(rest) < end+len(" response ") { // the content type may come
			return opening{}, wait
		}
		return opening{n: len(harmony.Assistant) + body, markup: true, begin: beginChannel(channel)}, yes
	}
	return opening{n: len(harmony.Assistant) + end, markup: true, begin: func(t *text, v string, n int) {
		beginChannel(how.Channel)(t, v, n)
		t.noArguments(n, strings.Clone(name))
	}}, yes
}

// findGlued returns the offset of a glued "assistant…" in v[from:end], part of a body. As in prose, it
// must show within a window.
func (t *text) findGlued(v string, from, end int, eof bool) (int, verdict) {
	for i := from; i < end; i++ {
		j := strings.IndexByte(v[i:end], 'a')
		if j < 0 {
			break
		}
		i += j
		b := t.prevByte(v, i)
		part := v[i:min(end, i+maxOpener)]
		whole := i+len(part) == end
		if _, is := t.grammar.Glued(part, b == '\n' || !scan.IsSpace(b), t.r.names.Known, eof &&
			whole); is == yes || is == wait && whole {
			return i, is
		}
	}
	return 0, no
}

// maxMaybeHeader bounds the text behind a first "analysis " in which markup must show that it is a
// header.
const maxMaybeHeader = 4096

// stepMaybeHeader holds "analysis …" until markup shows that it was a header, or the end shows that it
// was prose.
func (t *text) stepMaybeHeader(v string, eof bool) (int, bool) {
	at, _, _, end := t.findToken(v, t.at)
	if at >= 0 {
		end = at
	}
	g, is := t.findGlued(v, t.at, end, eof || at >= 0)
	switch {
	case is == yes || at >= 0:
		beginChannel(harmony.Analysis)(t, v, len(harmony.Analysis))
		return len(harmony.Analysis), false
	case eof:
		return t.release(t.r.s.harmony, len(harmony.Analysis), "prose that begins with the name of a channel")
	case is == wait:
		end = g
	}
	t.at = end
	return 0, true
}

// midLine is a last byte behind which neither a line nor a word begins.
const midLine = '_'

// tokenAt looks for a control token at the start of s, in any spelling.
func (t *text) tokenAt(s string, eof bool) (tok harmony.Token, n int, is verdict) {
	f, v := t.grammar.Alphabet.At(s, eof)
	return f.Token, f.N, v
}

// ahead is the result of a search for a token. Offsets count from the start of the field.
type ahead struct {
	from, end int // the searched text; end is -1 before the first search
	at        int // of the token; -1: none
	found     harmony.Found
	open      int // of a tail that may become a token
}

// findToken finds a token in v. The result is kept, and a search in a longer text resumes where the last
// one ended, so that each byte is searched once.
func (t *text) findToken(v string, from int) (at int, tok harmony.Token, n, open int) {
	a, first, end := &t.ahead, t.base+from, t.base+len(v)
	known := a.end >= 0 && a.from <= first && a.end <= end
	none := known && a.at < 0 && a.open >= first // before a.open
	switch {
	case known && a.at >= first:
	case none && a.end == end:
	default:
		begin := first
		if none {
			begin = a.open
		} else {
			a.from = first
		}
		a.end = end
		a.at, a.found, a.open = t.grammar.Alphabet.Find(v, begin-t.base, false)
		if a.open += t.base; a.at >= 0 {
			a.at += t.base
		}
	}
	if a.at < 0 {
		return -1, harmony.None, 0, a.open - t.base
	}
	return a.at - t.base, a.found.Token, a.found.N, len(v)
}

// endToken finds the token that ends a body at v[i:], at or after from. Behind a header in the exact
// spelling, the body may contain other spellings, as a page or a patch does: they end it only if nothing
// else does.
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
