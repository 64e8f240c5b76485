package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// Some servers drop the control tokens and leave their words glued to the text:
//
//	analysisWe need the file.assistantcommentary to=functions.read json{"path":"a"}assistantfinalDone.

// stripped looks for such words at the start of a line. v[p:] is its first
// non-blank byte, v[i:] the line; first says that nothing came before.
func (t *text) stripped(v string, i, p int, first, eof bool) (opening, verdict) {
	if !t.marks() {
		return opening{}, no
	}
	rest := v[p:]
	if !t.r.s.header.Begins(rest[0]) {
		return opening{}, no
	}
	if o, is := t.recipient(rest, p-i, eof); is != no {
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

// beheaded opens a header whose beginning was lost, at the start of a line. v[p:] is the first byte of v[i:]
// that is no blank.
func (t *text) beheaded(v string, i, p int, eof bool) (opening, verdict) {
	if !t.marks() || t.r.c.Open() {
		return opening{}, no
	}
	n, is := t.grammar.Beheaded(v[p:], t.r.names.Named, t.r.names.May, eof)
	return opening{n: p + n - i, markup: true, begin: func(t *text, v string, n int) {
		beginWordHeader(t, v, n)
		t.at = int(harmony.FromRecipient)
	}}, is
}

// firstWord looks at a reply that begins with the name of a channel.
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
			return opening{n: indent, begin: func(t *text, _ string, _ int) { t.enter(inMaybe) }}, yes
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

// beginBareHeader reads a header whose opener was lost: "final<|message|>".
func beginBareHeader(t *text, _ string, _ int) {
	t.settleLead()
	t.openHeader(harmony.FromChannel)
}

// beginChannel enters the body of a message whose header was a glued word.
func beginChannel(channel string) func(*text, string, int) {
	return func(t *text, _ string, n int) {
		if len(t.lead) > 0 && t.r.s.thinks(string(t.lead)) {
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
	if t.hanging {
		t.enter(inTail)
		return
	}
	switch channel {
	case harmony.Analysis:
		t.message(Thought, false)
	case harmony.Commentary:
		t.enter(inLost)
		return
	default:
		t.message(Text, false)
	}
	t.trim = true
}

// gluedWord looks for a glued "assistant…" in the middle of a line.
func (t *text) gluedWord(v string, j int, eof bool) (opening, verdict) {
	b := t.before(v, j)
	how, is := t.grammar.Glued(v[j:], b == '\n' || !scan.IsSpace(b), t.r.names.Known, eof)
	switch {
	case is != yes:
		return opening{}, is
	case how.Token:
		return opening{n: how.N, markup: true, begin: func(*text, string, int) {}}, yes
	case how.To:
		return t.recipient(v[j+how.N:], how.N, eof)
	}
	rest := v[j+len(harmony.Assistant):]
	if o, is := t.recipient(rest, len(harmony.Assistant), eof); is == wait || is == yes &&
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

// glued is the offset of a glued "assistant…" in v[from:end], part of a body. What could not show in a window
// that it is one is text, as in prose.
func (t *text) glued(v string, from, end int, eof bool) (int, verdict) {
	for i := from; i < end; i++ {
		j := strings.IndexByte(v[i:end], 'a')
		if j < 0 {
			break
		}
		i += j
		b := t.before(v, i)
		part := v[i:min(end, i+maxOpener)]
		whole := i+len(part) == end
		if _, is := t.grammar.Glued(part, b == '\n' || !scan.IsSpace(b), t.r.names.Known, eof &&
			whole); is == yes || is == wait && whole {
			return i, is
		}
	}
	return 0, no
}

// maxMaybe is how far a reply that begins with "analysis " may go on before more
// markup must show that this is a header.
const maxMaybe = 4096

// stepMaybe holds "analysis …" until markup shows that it was a header, or the
// end shows that it was prose.
func (t *text) stepMaybe(v string, eof bool) (int, bool) {
	at, _, _, end := t.findToken(v, t.at)
	if at >= 0 {
		end = at
	}
	g, is := t.glued(v, t.at, end, eof || at >= 0)
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

// midLine is a last byte behind which no line and no word begins.
const midLine = '_'
