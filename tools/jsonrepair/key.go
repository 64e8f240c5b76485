package jsonrepair

import "strings"

// key reads the key of the next member.
func (m *mender) key() error {
	c := m.text[m.pos]
	if strings.IndexByte("[:=()", c) >= 0 {
		return &Error{m.pos, "a key was expected, not " + string(c)}
	}
	m.count()
	if markAt(m.text, m.pos).width > 0 {
		m.quoted(inKey)
	} else {
		m.bareKey()
	}
	return nil
}

// bareKey reads a key without quotes, or with its closing quote only.
func (m *mender) bareKey() {
	at := m.pos
	end := at + m.bareKeyLen()
	m.pos = end
	if k := markAt(m.text, end); k.width > 0 {
		if colon := m.blank(end + k.width); colon < len(m.text) && m.text[colon] == ':' { // b": 1
			m.pos = end + k.width
		}
	}
	if !m.top().bareKeys {
		m.doubtBare() // words and a colon are common in text, too
	}
	if m.pos == end {
		m.top().bareKeys = true
	}
	word := m.trim(at, end)
	if !plainKey(m.text[at:word]) {
		m.doubt()
	}
	m.note(KindQuote, at, m.text[at:m.pos], `"`+excerpt(m.text[at:word])+`"`)
	m.writeString(at, word)
}

// endsBareKey marks the bytes that end a key without quotes.
var endsBareKey = [256]bool{':': true, '=': true, ',': true, '{': true, '}': true,
	'[': true, ']': true, '"': true, '\'': true, '\n': true}

// bareKeyLen returns the length of the text at pos up to the end of a key.
func (m *mender) bareKeyLen() int {
	i := m.pos
	for i < len(m.text) && !endsBareKey[m.text[i]] {
		i++
	}
	m.work += i - m.pos
	return i - m.pos
}
