package parse

import "strings"

// Some servers drop the control tokens and leave their words glued to the text:
//
//	analysisWe need the file.assistantcommentary to=functions.read json{"path":"a"}assistantfinalDone.

const assistant = "assistant"

// stripped looks for such words at the start of a line. v[p:] is its first
// non-blank byte, v[i:] the line; first says that nothing came before.
func (t *text) stripped(v string, i, p int, first, eof bool) (opening, verdict) {
	if t.r.s.harmony == nil {
		return opening{}, no
	}
	rest := v[p:]
	if rest[0] != 't' && rest[0] != 'a' && rest[0] != 'c' && rest[0] != 'f' {
		return opening{}, no
	}
	if o, is := t.recipient(rest, p-i, eof); is != no {
		return o, is
	}
	if !first {
		return opening{}, no
	}
	for _, c := range channels {
		is, more := hasExact(rest, c)
		if more && !eof {
			return opening{}, wait
		}
		if is {
			return t.firstWord(rest, c, p-i, eof)
		}
	}
	return opening{}, no
}

// firstWord looks at a reply that begins with the name of a channel.
func (t *text) firstWord(rest, channel string, indent int, eof bool) (opening, verdict) {
	n := len(channel)
	if n == len(rest) {
		if eof {
			return opening{}, no
		}
		return opening{}, wait
	}
	next := rest[n]
	switch {
	case next == '<':
		tok, _, more := tokenAt(rest[n:])
		if more && !eof {
			return opening{}, wait
		}
		if tok == noToken {
			return opening{}, no
		}
		return opening{n: indent, begin: beginBareHeader}, yes
	case next == ' ' || next == ':' || next == '\n':
		j := skipSpace(rest, n+1)
		if j == len(rest) && !eof {
			return opening{}, wait
		}
		if channel == "final" && j < len(rest) && (rest[j] == '{' || rest[j] == '[') {
			return opening{n: indent + n, begin: beginChannel(channel)}, yes
		}
		if channel == "analysis" {
			return opening{n: indent, begin: func(t *text, _ string, _ int) { t.enter(inMaybe) }}, yes
		}
		return opening{}, no
	case isLower(next) || next == '-' || next == '_' || next == '.' || next == ',' || next == '=' || next == '(' || next == '/':
		return opening{}, no
	}
	return opening{n: indent + n, begin: beginChannel(channel)}, yes
}

// beginBareHeader reads a header whose opener was lost: "final<|message|>".
func beginBareHeader(t *text, _ string, _ int) {
	t.settleLead()
	t.openHeader(true)
}

// beginChannel enters the body of a message whose header was a glued word.
func beginChannel(channel string) func(*text, string, int) {
	return func(t *text, _ string, n int) {
		t.settleLead()
		t.note(t.r.s.harmony, 0, n, Dropped, "the word "+channel+" is a channel")
		t.stripMessage(channel)
	}
}

// stripMessage enters a message after a stripped header.
func (t *text) stripMessage(channel string) {
	t.head = header{channel: channel, stripped: true}
	if t.after == afterOpen {
		t.enter(inTail)
		return
	}
	k := Text
	if channel == "analysis" {
		k = Thought
	}
	t.message(k, false)
	t.trim = true
}

// assistantAt looks at "assistant" at the start of rest, followed by what makes
// it markup. glued says that it follows another word without a blank.
func assistantAt(rest string, glued, eof bool) (channel string, n int, is verdict) {
	full, more := hasExact(rest, assistant)
	if !full {
		if more && !eof {
			return "", 0, wait
		}
		return "", 0, no
	}
	after := rest[len(assistant):]
	if after == "" {
		if eof {
			return "", 0, no
		}
		return "", 0, wait
	}
	if after[0] == '<' {
		tok, _, more := tokenAt(after)
		if more && !eof {
			return "", 0, wait
		}
		if tok == channelToken || tok == messageToken {
			return "", len(assistant), yes
		}
		return "", 0, no
	}
	for _, c := range channels {
		is, more := hasExact(after, c)
		if is {
			return c, len(assistant) + len(c), yes
		}
		if more && !eof {
			return "", 0, wait
		}
	}
	if is, more := hasExact(after, " to="); is && glued {
		return "to", len(assistant) + 1, yes
	} else if more && !eof {
		return "", 0, wait
	}
	return "", 0, no
}

// inlineWord looks for a glued "assistant…" in the middle of a line.
func (t *text) inlineWord(v string, j int, eof bool) (opening, verdict) {
	if t.r.s.harmony == nil || v[j] != 'a' {
		return opening{}, no
	}
	glued := j == 0 && t.bol || j > 0 && !isSpace(v[j-1]) || j > 0 && v[j-1] == '\n'
	channel, n, is := assistantAt(v[j:], glued, eof)
	if is != yes {
		return opening{}, is
	}
	switch channel {
	case "":
		return opening{n: n, tok: startToken, begin: func(*text, string, int) {}}, yes
	case "to":
		return t.recipient(v[j+n:], n, eof)
	case "commentary", "analysis":
		o, is := t.recipient(v[j+len(assistant):], len(assistant), eof)
		if is != no {
			return o, is
		}
	}
	return opening{n: n, tok: startToken, begin: beginChannel(channel)}, yes
}

// glued is the offset of a glued "assistant…" in the body of a message.
func (t *text) glued(v string, eof bool) (int, verdict) {
	for i := 0; ; {
		j := strings.IndexByte(v[i:], 'a')
		if j < 0 {
			return 0, no
		}
		i += j
		glued := i == 0 || !isSpace(v[i-1]) || v[i-1] == '\n'
		if _, _, is := assistantAt(v[i:], glued, eof); is != no {
			return i, is
		}
		i++
	}
}

// recipient looks for "to=NAME", with an optional channel word in front, that a
// body or more markup follows. skip bytes lie before rest.
func (t *text) recipient(rest string, skip int, eof bool) (opening, verdict) {
	i := 0
	for _, c := range channels {
		is, more := hasExact(rest, c)
		if more && !eof {
			return opening{}, wait
		}
		if is {
			i = len(c)
			break
		}
	}
	for i < len(rest) && rest[i] == ' ' {
		i++
	}
	is, more := hasExact(rest[i:], "to=")
	if !is {
		if more && !eof {
			return opening{}, wait
		}
		return opening{}, no
	}
	from := i + len("to=")
	to := from
	for to < len(rest) && (isName(rest[to]) || rest[to] == '/' || rest[to] == ':') {
		to++
	}
	i = to
	for i < len(rest) && (rest[i] == ' ' || rest[i] == '\n') {
		i++
	}
	kind := ""
	for _, c := range []string{"json", "code", "text"} {
		is, more := hasExact(rest[i:], c)
		if more && !eof {
			return opening{}, wait
		}
		if is {
			kind = c
			i = skipSpace(rest, i+len(c))
			break
		}
	}
	switch {
	case to == from:
		if to == len(rest) && !eof {
			return opening{}, wait
		}
		return opening{}, no
	case i == len(rest):
		if eof || i > maxHeader {
			return opening{}, no
		}
		return opening{}, wait
	case rest[i] == '<':
		tok, _, more := tokenAt(rest[i:])
		if more && !eof {
			return opening{}, wait
		}
		if tok == noToken {
			return opening{}, no
		}
		return opening{n: skip, tok: startToken, begin: beginWordHeader}, yes
	case rest[i] == '{' || rest[i] == '[' || kind == "code" || kind != "" && t.known(rest[from:to]):
		name := rest[from:to]
		return opening{n: skip + i, tok: startToken, begin: func(t *text, v string, n int) {
			t.settleLead()
			t.head = header{recipient: strings.Clone(name), stripped: true, flaw: "control tokens are missing"}
			t.headText(v[:n])
			t.enter(inCall)
		}}, yes
	}
	return opening{}, no
}

// beginWordHeader reads a header whose first words were left of its opener.
func beginWordHeader(t *text, v string, n int) {
	t.settleLead()
	t.openHeader(channelWord(strings.TrimLeft(v[n:], " \n")) != "")
	t.head.stripped = true
}

func (t *text) known(name string) bool {
	if t.r.c.Open() {
		return false
	}
	_, refusal := t.r.c.Name(strings.Clone(name))
	return refusal == nil
}

// stepMaybe holds "analysis …" until markup shows that it was a header, or the
// end shows that it was prose.
func (t *text) stepMaybe(v string, eof bool) (int, bool) {
	const limit = 4096
	at, _, _, open := findToken(v, t.at)
	if g, is := t.glued(v[t.at:max(open, t.at)], true); is == yes || at >= 0 {
		_ = g
		beginChannel("analysis")(t, v, len("analysis"))
		return len("analysis"), false
	}
	if eof || len(v) > limit {
		t.note(t.r.s.harmony, 0, len("analysis"), Released, "prose that begins with the name of a channel")
		t.prose(1)
		return 0, false
	}
	t.at = max(0, len(v)-64)
	return 0, true
}

// hasExact is strings.HasPrefix; more says that s is a proper prefix of lit.
func hasExact(s, lit string) (is, more bool) {
	if strings.HasPrefix(s, lit) {
		return true, false
	}
	return false, len(s) < len(lit) && strings.HasPrefix(lit, s)
}
