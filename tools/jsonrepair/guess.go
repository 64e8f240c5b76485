package jsonrepair

import "strings"

// guess is the likelihood of a key.
type guess int

const (
	no     guess = iota
	maybe        // a string without its colon, or the text ends
	surely       // a name and its colon
)

// keyAt guesses whether a member of an object begins at i.
func (m *mender) keyAt(i int) guess {
	if i >= len(m.text) {
		return no
	}
	if k := markAt(m.text, i); k.width > 0 {
		return m.quotedKeyAt(i, k)
	}
	return m.bareKeyAt(i)
}

// quotedKeyAt guesses about the string behind the mark open at i.
func (m *mender) quotedKeyAt(i int, open mark) guess {
	start := i + open.width
	if strings.HasPrefix(m.text[start:], m.text[i:start]) && m.textAt(start+open.width) {
		start += open.width // ""key""
	}
	end, w := m.keyEnd(start, open.kind)
	if w == 0 {
		if end == len(m.text) {
			return maybe
		}
		return no
	}
	after := end + w
	if strings.HasPrefix(m.text[after:], m.text[i:i+open.width]) && start > i+open.width {
		after += open.width
	}
	n := m.blank(after)
	if m.ends(n) {
		return maybe
	}
	switch c := m.text[n]; {
	case c == ':', c == '=' &&
		m.valueAt(min(m.blank(n+1+strings.Count(m.text[n+1:min(n+2, len(m.text))], ">")), len(m.text)-1)):
		return surely
	case c == '}' || c == ']':
		if m.closersEnd(n) {
			return maybe
		}
	case n > after && wordLen(m.text[start:end]) == end-start && m.valueAt(n):
		return maybe
	}
	return no
}

// keyEnd finds the mark that ends a key: near, and on this line.
func (m *mender) keyEnd(i int, open markKind) (end, width int) {
	from, limit := i, min(len(m.text), i+lookAhead)
	for i < limit && m.text[i] != '\n' {
		if k := markAt(m.text, i); k.width > 0 && open.closedBy(k.kind) {
			m.work += i - from + 1
			return i, k.width
		}
		if m.text[i] == '\\' {
			i++
		}
		i++
	}
	m.work += i - from + 1
	return min(i, len(m.text)), 0
}

// bareKeyAt guesses about a key without its opening quote, or without both.
func (m *mender) bareKeyAt(i int) guess {
	end := i + wordLen(m.text[i:min(len(m.text), i+lookAhead)])
	m.work += end - i + 1
	if end == len(m.text) {
		return maybe
	}
	if end == i {
		return no
	}
	k := markAt(m.text, end)
	n := m.blank(end + k.width)
	if n == len(m.text) || m.text[n] != ':' {
		return no
	}
	if k.width > 0 || len(m.open) > 0 && m.top().bareKeys && !strings.HasPrefix(m.text[n:], "://") {
		return surely
	}
	// A word and a colon are common in text, too. A value must follow, and no inner quotation may be
	// open.
	if value := m.blank(n + 1); m.inner%2 == 0 && (value == len(m.text) || m.valueAt(value)) {
		return surely
	}
	return no
}
