package jsonrepair

import "strings"

// lookAhead bounds, in bytes, how far a guess about a key looks.
const lookAhead = 128

// closes reports whether a quotation mark that ends at after closes its string. What follows decides: a
// quote within text is followed by text.
func (m *mender) closes(after int, r role) bool {
	n := m.blank(after)
	if m.ends(n) {
		return true
	}
	switch c := m.text[n]; {
	case m.commentAt(n), c == '#' && n > after && r == inObject:
		return m.closesBeforeComment(n, r)
	case r == inKey:
		return m.closesKey(after, n)
	case c == '+':
		return m.joins(n)
	case c == ')' && m.wrappers > 0:
		return true
	case r == inRoot:
		return c == ','
	case c == '}' || c == ']':
		return m.closersAhead(n)
	case r == inObject && (c == ',' || c == ';'):
		return m.memberAhead(n + 1)
	case r == inObject && markAt(m.text, n).width > 0:
		return m.keyAt(n) == surely || m.lineBreak(after, n) && m.wholeText(n)
	case r == inObject:
		return m.lineBreak(after, n) && m.keyAt(n) == surely
	}
	return m.closesElement(after, n)
}

// wholeText reports whether a quoted text stands at n, with the end of its member behind it.
func (m *mender) wholeText(n int) bool {
	open := markAt(m.text, n)
	end, w := m.keyEnd(n+open.width, open.kind)
	behind := m.blank(end + w)
	return w > 0 && behind < len(m.text) && (m.text[behind] == ',' && m.memberAhead(behind+1) ||
		m.text[behind] == '}' && m.closersAhead(behind))
}

// closesKey judges a mark in a key by the byte at n.
func (m *mender) closesKey(after, n int) bool {
	apart := n > after
	switch c := m.text[n]; {
	case strings.IndexByte(":=,}]", c) >= 0:
		return true
	case markAt(m.text, n).width > 0:
		after := m.blank(n + 1)
		return apart || after < len(m.text) && m.text[after] != ':'
	}
	return apart && m.valueAt(n)
}

// closesElement judges a mark in a string of an array by the byte at n.
func (m *mender) closesElement(after, n int) bool {
	switch k := markAt(m.text, n); {
	case m.text[n] == ',':
		return true
	case k.width > 0:
		next := m.blank(n + k.width)
		return n > after || !m.ends(next) && strings.IndexByte(",]", m.text[next]) < 0
	}
	return n > after && m.valueAt(n) || m.lineBreak(after, n)
}

// valueAt reports whether a value begins at i.
func (m *mender) valueAt(i int) bool {
	c := m.text[i]
	if isDigit(c) || c == '-' || c == '{' || c == '[' || markAt(m.text, i).width > 0 {
		return true
	}
	_, ok := literal(m.text[i : i+wordLen(m.text[i:min(len(m.text), i+lookAhead)])])
	return ok
}

// opensString reports whether a quotation mark is next from i on.
func (m *mender) opensString(i int) bool {
	return markAt(m.text, m.blank(i)).width > 0
}

// memberAhead reports whether the comma before i separates members of an object.
func (m *mender) memberAhead(i int) bool {
	n := m.blank(i)
	if m.ends(n) {
		return true
	}
	switch c := m.text[n]; {
	case c == ',' || m.commentAt(n) || strings.HasPrefix(m.text[n:], "..."):
		return true
	case c == '}' || c == ']':
		return m.closersAhead(n)
	case c == '{':
		return m.opened.brackets > 0
	case c == '[': // a mistake, but not within a string
		return true
	}
	return m.keyAt(n) != no
}

// closersEnd reports whether only closers are left from i on.
func (m *mender) closersEnd(i int) bool { return m.ends(m.closerRun(i)) }

// closerRun returns the first offset from i on that is neither closer nor space.
func (m *mender) closerRun(i int) int {
	for {
		i = m.blank(i)
		if i == len(m.text) || m.text[i] != '}' && m.text[i] != ']' {
			return i
		}
		i++
	}
}

// closersAhead reports whether the closers at i are structure, not part of a string: what follows must
// fit the open containers.
func (m *mender) closersAhead(i int) bool {
	from := i
	i, depth := m.closeAhead(i)
	if m.ends(i) {
		return true
	}
	inList := depth > 0 && m.open[depth-1].kind == '['
	newLine := m.lineBreak(from, i)
	switch c := m.text[i]; {
	case c == ',':
		return m.sequelAhead(m.blank(i+1), inList || depth == 0)
	case m.commentAt(i):
		return true
	case markAt(m.text, i).width > 0:
		return inList || m.keyAt(i) == surely
	case depth > 0:
		return inList && (c == '{' || c == '[') || newLine && m.keyAt(i) == surely ||
			c == '{' && m.keyAt(m.blank(i+1)) == surely
	case strings.IndexByte("{[;)", c) >= 0:
		return true
	}
	return newLine || i > m.lastClose
}

// closeAhead matches the closers from i on with the open containers and returns their end, and how many
// containers stay open.
func (m *mender) closeAhead(i int) (after, depth int) {
	depth = len(m.open)
	unclosed := m.opened
	for {
		i = m.blank(i)
		if i == len(m.text) || m.text[i] != '}' && m.text[i] != ']' {
			return i, depth
		}
		for own := unclosed.of(m.text[i] - 2); *own > 0; {
			depth--
			kind := m.open[depth].kind
			*unclosed.of(kind)--
			if kind == m.text[i]-2 {
				break
			}
		}
		i++
	}
}

// sequelAhead reports whether the text at n, behind closers and a comma, is structure: a container or a
// key, or any value where one may follow.
func (m *mender) sequelAhead(n int, values bool) bool {
	if m.ends(n) || strings.IndexByte(",{[}]", m.text[n]) >= 0 || m.commentAt(n) {
		return true
	}
	return values && m.valueAt(n) || m.keyAt(n) != no
}

// lastClosing returns the offset of the last quote with a closer behind it, or -1: prose behind the
// value comes later.
func lastClosing(text string) int {
	for end := strings.LastIndexAny(text, "}]"); end >= 0; end = strings.LastIndexAny(text, "}]") {
		text = strings.TrimRight(text[:end], "}]"+asciiSpace)
		if strings.HasSuffix(text, `"`) {
			return len(text) - 1
		}
	}
	return -1
}
