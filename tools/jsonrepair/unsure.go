package jsonrepair

import "strings"

// doubt notes that the value at hand may not be what the writer meant: where a text ends,
// or what a character in it stands for, was guessed.
func (m *mender) doubt() { m.unsure = true }

// doubtBare notes that what follows may belong to a text without quotes, if there was one.
func (m *mender) doubtBare() {
	m.unsure = m.unsure || m.bareText
	m.words = m.words || m.bareWord
}

// judgeText doubts the text from start to end that stood between marks of the kind open,
// if a mark inside it could have ended it, or another could have opened it.
func (m *mender) judgeText(start, end int, open mark) {
	body := m.text[start:end]
	m.work += len(body)
	if opening := m.text[m.pos:start]; opening != `"` && strings.IndexByte(body, '\\') >= 0 {
		m.doubt() // who quotes so may escape or not
	}
	if opening := m.text[m.pos:start]; opening == "''" || opening != `"` && markAt(body, 0).width > 0 {
		m.doubt() // marks in marks: which are the text's?
	}
	if strings.Contains(body, "\\\n") {
		m.doubt() // a line goes on, or a backslash ends it
	}
	if strings.HasPrefix(m.text[start-open.width:], "`") {
		m.doubt() // in a shell line they stand for what a command says
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
			m.doubt() // a shell and Python join what they part: 'a' 'b'
			return
		}
	}
	if inner%2 == 1 {
		m.doubt() // one of them lacks its other half
	}
}

// plainWord reports whether a value without quotes can be nothing but itself: nothing in
// it could be a mark, a comment, an escape or structure.
func plainWord(word string) bool {
	return !strings.ContainsAny(word, "\"'`“”‘’\\#{}[],:=\n") && !strings.Contains(word, "//") &&
		!strings.Contains(word, "/*")
}

// plainKey reports whether a key is a name as parameters have it.
func plainKey(key string) bool {
	return key != "" && !isDigit(key[0]) && key[0] != '-' && wordLen(key) == len(key)
}

// escapes says which escapes a text has. One with some that JSON knows and some that it
// does not was perhaps never escaped: then \n in it is no line break.
type escapes uint8

const (
	jsonEscapes escapes = 1 << iota
	strangeEscapes
	writtenLines // \n
	rawLines     // line breaks as they are
)

// mixed says that a text escapes some of what must be escaped, and some not.
func (e escapes) mixed() bool {
	both := func(of escapes) bool { return e&of == of }
	return both(jsonEscapes|strangeEscapes) || both(writtenLines|rawLines)
}

// add takes note of text, if it holds an escape that can be misread.
func (e *escapes) add(text string, kind escapes) {
	if *e&kind == 0 && strings.Contains(strings.ReplaceAll(text, `\"`, ""), `\`) {
		*e |= kind
	}
}
