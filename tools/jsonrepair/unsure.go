package jsonrepair

import "strings"

// doubt notes that the current value was guessed: the end of a text, or the meaning of a character in
// it.
func (m *mender) doubt() { m.unsure = true }

// doubtBare notes that what follows may belong to an unquoted text, if there was one.
func (m *mender) doubtBare() {
	m.unsure = m.unsure || m.bareText
	m.words = m.words || m.bareWord
}

// judgeText doubts the text from start to end between marks of the kind open if an inner mark could have
// ended it, or another could have opened it.
func (m *mender) judgeText(start, end int, open mark) {
	body := m.text[start:end]
	m.work += len(body)
	if opening := m.text[m.pos:start]; opening != `"` && strings.IndexByte(body, '\\') >= 0 {
		m.doubt() // such quotes may escape or not
	}
	if opening := m.text[m.pos:start]; opening == "''" || opening != `"` && markAt(body, 0).width > 0 {
		m.doubt() // marks within marks are ambiguous
	}
	if strings.Contains(body, "\\\n") {
		m.doubt() // a line continues, or a backslash ends it
	}
	if strings.HasPrefix(m.text[start-open.width:], "`") {
		m.doubt() // a command substitution in a shell line
	}
	m.noText, m.shutText = body == "", strings.ContainsAny(body, "}]")
	inner := 0
	for i := 0; i < len(body); i++ {
		if body[i] == '\\' {
			i++
			continue
		}
		k := markAt(body, i)
		if k.width == 0 || !open.kind.closedBy(k.kind) {
			continue
		}
		inner++
		before, after := strings.TrimRight(body[:i], asciiSpace), strings.TrimLeft(body[i+k.width:],
			asciiSpace)
		if before == "" || after == "" || strings.IndexByte(",:{[=\\", before[len(before)-1]) >= 0 ||
			strings.IndexByte(",:}]=+#/\"", after[0]) >= 0 {
			m.doubt()
			return
		}
		if next := markAt(after, 0); next.width > 0 && open.kind.closedBy(next.kind) {
			m.doubt() // adjacent strings of a shell or Python: 'a' 'b'
			return
		}
	}
	if inner%2 == 1 {
		m.doubt() // one of a pair is missing
	}
}

// plainWord reports whether an unquoted value is unambiguous: it contains no mark, comment, escape or
// structure.
func plainWord(word string) bool {
	return !strings.ContainsAny(word, "\"'`“”‘’\\#{}[],:=\n") && !strings.Contains(word, "//") &&
		!strings.Contains(word, "/*")
}

// plainKey reports whether a key is a name like those of parameters.
func plainKey(key string) bool {
	return key != "" && !isDigit(key[0]) && key[0] != '-' && wordLen(key) == len(key)
}

// escapes are the escapes in a text. One with some that JSON knows and some that it does not was perhaps
// never escaped: \n in it is then no line break.
type escapes uint8

const (
	jsonEscapes escapes = 1 << iota
	strangeEscapes
	writtenLines // \n
	rawLines     // unescaped line breaks
)

// mixed reports whether a text escapes only some of what must be escaped.
func (e escapes) mixed() bool {
	both := func(of escapes) bool { return e&of == of }
	return both(jsonEscapes|strangeEscapes) || both(writtenLines|rawLines)
}

// add records text with an ambiguous escape.
func (e *escapes) add(text string, kind escapes) {
	if *e&kind == 0 && strings.Contains(strings.ReplaceAll(text, `\"`, ""), `\`) {
		*e |= kind
	}
}
