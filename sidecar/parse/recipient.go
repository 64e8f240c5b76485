package parse

import "strings"

// contentTypes may stand between a recipient and the body.
var contentTypes = [...]string{"json", "code", "text"}

// recipient looks for "to=NAME", with an optional channel word in front, that a
// body or more markup follows. skip bytes lie before rest.
func (t *text) recipient(rest string, skip int, eof bool) (opening, verdict) {
	c, is := startsAny(rest, channels[:], eof)
	if is == wait {
		return opening{}, wait
	}
	i := skipBytes(rest, len(c), " ")
	if is := starts(rest[i:], "to=", eof); is != yes {
		return opening{}, is
	}
	from := i + len("to=")
	to := from
	for to < len(rest) && (isName(rest[to]) || rest[to] == '/' || rest[to] == ':') {
		to++
	}
	switch {
	case to == len(rest) && !eof:
		return opening{}, wait
	case to == from:
		return opening{}, no
	}
	i = skipBytes(rest, to, " \n")
	kind, is := startsAny(rest[i:], contentTypes[:], eof)
	if is == wait {
		return opening{}, wait
	}
	if is == yes {
		i = skipSpace(rest, i+len(kind))
	}
	return t.recipientBody(rest, rest[from:to], kind, i, skip, eof)
}

// recipientBody says whether a body or a header follows a recipient at rest[i:].
func (t *text) recipientBody(rest, name, kind string, i, skip int, eof bool) (opening, verdict) {
	if i == len(rest) {
		return opening{}, waitUnless(eof)
	}
	switch b := rest[i]; {
	case b == '<':
		_, _, is := tokenAt(rest[i:], eof)
		return opening{n: skip, markup: true, begin: beginWordHeader}, is
	case b == '{' || b == '[' || kind == "code" || kind != "" && t.known(name):
		return opening{n: skip + i, markup: true, begin: func(t *text, v string, n int) {
			t.settleLead()
			t.head = header{recipient: strings.Clone(name), stripped: true, text: strings.Clone(v[:n]), flaw: "control tokens are missing"}
			if t.past.add(v[:skipBlanks(v, 0)]); strings.HasPrefix(v, assistant) { // glued to what stands in front of it
				t.past = past{}
			}
			t.beginCall(v[:n])
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
