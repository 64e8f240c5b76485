package jsonrepair

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// bare reads a value without quotes: a literal, a number, or text that lacks its quotes.
func (m *mender) bare(r role) {
	end, next := m.bareEnd(r)
	at, word := m.pos, m.text[m.pos:m.trim(m.pos, end)]
	m.pos = next
	known := m.writeBare(at, word, r)
	if end == len(m.text) && !known && r != inRoot {
		m.cut = MidValue // it may be incomplete
	}
	switch {
	case known:
		m.bareWord = true
	case word[0] != '-' && !isDigit(word[0]):
		m.bareText = true
	}
	if next > end {
		m.doubt() // it lost its opening mark, or the mark is its own
		m.note(KindQuote, end, m.text[end:next], "")
	}
}

// writeBare writes the word at offset at, and reports whether it is a literal, which cannot continue.
func (m *mender) writeBare(at int, word string, r role) bool {
	if to, kind, ok := scalar(word); ok {
		if to != word {
			m.note(kind, at, word, to)
			// +358 may be a phone number; Infinity and 2e- are unclear
			m.words = m.words || kind == KindNumber
			m.unsure = m.unsure || word == "NaN" || word == "-" || strings.HasSuffix(word, "Infinity") ||
				to == word+"0"
		}
		m.out = append(m.out, to...)
		return kind == KindLiteral
	}
	kind := KindQuote
	if isDigit(word[0]) {
		kind = KindNumber
	}
	if r != inRoot || !plainWord(word) {
		m.doubt() // a text may continue, or be another name
	}
	if inner, ok := strings.CutPrefix(word, `\"`); ok { // a surplus escape: {"a": \"b\"}
		if inner, ok = strings.CutSuffix(inner, `\"`); ok && plainWord(inner) {
			at, word = at+len(`\"`), inner
		}
	}
	m.note(kind, at, word, `"`+excerpt(word)+`"`)
	m.writeString(at, at+len(word))
	return false
}

// bareEnd returns the end of the value without quotes at pos, and where reading continues: behind a
// stray closing quote.
func (m *mender) bareEnd(r role) (end, next int) {
	s, i, first := m.text, m.pos, true // first: no white space was passed
	inner := false                     // an inner quote is open
	for ; i < len(s); i++ {
		switch c := s[i]; c {
		case '}', ']':
			if r != inRoot || m.scalarTo(i) {
				return i, i
			}
		case ',':
			if m.commaEnds(i, r) {
				return i, i
			}
		case ')':
			if m.wrappers > 0 {
				return i, i
			}
		case '"':
			if r != inRoot && m.closes(i+1, r) {
				if inner {
					i++
					return i, i
				}
				return i, i + 1
			}
			inner = !inner
		case '{', '[':
			if first && isScalar(s[m.pos:i]) {
				return i, i
			}
		case '`':
			if m.fenceEnds(i) {
				return i, i
			}
		case ' ', '\t', '\r', '\n':
			n := m.blank(i)
			if m.breaks(i, n, r) || first && m.parts(i, n, r) {
				return i, i
			}
			first = false
			i = n - 1
		}
	}
	m.work += i - m.pos
	return i, i
}

// commaEnds reports whether the comma at i ends a value without quotes, unlike in {cmd: a, b} and {n:
// 1,234}.
func (m *mender) commaEnds(i int, r role) bool {
	switch {
	case r == inArray:
		return true
	case r == inObject && m.memberAhead(i+1):
		return true
	}
	return (r == inRoot || i+1 < len(m.text) && !isDigit(m.text[i+1])) && m.scalarTo(i)
}

// scalarTo reports whether the text from pos to i is a literal or a number.
func (m *mender) scalarTo(i int) bool { return isScalar(m.text[m.pos:m.trim(m.pos, i)]) }

// breaks reports whether the white space from i to n ends a value without quotes.
func (m *mender) breaks(i, n int, r role) bool {
	if m.ends(n) {
		return true
	}
	if r != inRoot && m.commentAt(n) {
		if _, whole := m.commentEnd(n); whole || m.text[n] != '#' {
			if !isScalar(m.text[m.pos:i]) {
				m.doubt()
			}
			return true
		}
	}
	if !m.lineBreak(i, n) {
		return false
	}
	return r == inArray || m.keyAt(n) == surely || isScalar(m.text[m.pos:i])
}

// parts reports whether white space separates a literal or number from the next value or key without a
// comma.
func (m *mender) parts(i, n int, r role) bool {
	if !isScalar(m.text[m.pos:i]) {
		return false
	}
	return r == inArray && m.valueAt(n) || r == inObject && m.keyAt(n) == surely
}

func isScalar(word string) bool {
	if len(word) > lookAhead {
		return false // keeps repeated calls cheap
	}
	_, _, ok := scalar(word)
	return ok
}

// scalar returns the JSON literal or number for word, and the kind of change.
func scalar(word string) (to, kind string, ok bool) {
	if to, ok = literal(word); ok {
		return to, KindLiteral, true
	}
	to, ok = number(word)
	return to, KindNumber, ok
}

// literal returns the JSON literal for word in JSON, Python or JavaScript; null for values that JSON
// lacks.
func literal(word string) (string, bool) {
	switch word {
	case "true", "True", "TRUE":
		return "true", true
	case "false", "False", "FALSE":
		return "false", true
	case "null", "None", "Null", "NULL", "nil", "undefined", "NaN", "Infinity", "-Infinity":
		return "null", true
	}
	return "", false
}

// number returns word as a JSON number, adding a missing digit: -, 2e-. A leading zero makes it a
// string, as in a postal code.
func number(word string) (string, bool) {
	if word == "-" {
		return "0", true
	}
	if !isNumber(word) && strings.ContainsAny(word, "eE") && isNumber(word+"0") {
		return word + "0", true
	}
	return jsontext.Numeral(word)
}
