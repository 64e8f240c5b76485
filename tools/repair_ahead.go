package tools

import "strings"

// lookAhead bounds, in bytes, how far a guess about a key looks.
const lookAhead = 128

// closes reports whether a quotation mark that ends at after closes the string
// it stands in. What follows decides: a quote inside of text is followed by text.
func (m *mender) closes(after int, r role) bool {
	n := m.blank(after)
	if m.ends(n) {
		return true
	}
	switch c := m.text[n]; {
	case r == inKey:
		return m.closesKey(after, n)
	case c == '+':
		return m.joins(n)
	case m.commentAt(n):
		return true
	case c == ')' && m.wrappers > 0:
		return true
	case r == inRoot:
		return c == ','
	case c == '}' || c == ']':
		return m.closersAhead(n)
	case r == inObject && c == ',':
		return m.memberAhead(n + 1)
	case r == inObject && markAt(m.text, n).width > 0:
		return m.keyAt(n) == surely
	case r == inObject:
		return m.lineBreak(after, n) && m.keyAt(n) == surely
	}
	return m.closesElement(after, n)
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

// valueAt reports whether a value begins at i that needs no quotes, or has them.
func (m *mender) valueAt(i int) bool {
	c := m.text[i]
	if isDigit(c) || c == '-' || c == '{' || c == '[' || markAt(m.text, i).width > 0 {
		return true
	}
	_, ok := literal(m.text[i : i+wordLen(m.text[i:min(len(m.text), i+lookAhead)])])
	return ok
}

// opensString reports whether the next thing from i on is a quotation mark.
func (m *mender) opensString(i int) bool {
	n := m.blank(i)
	return n < len(m.text) && markAt(m.text, n).width > 0
}

// memberAhead reports whether the comma before i parts two members of an object.
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
	case c == '[': // a mistake, but none inside of a string
		return true
	}
	return m.keyAt(n) != no
}

// closerRun returns the first place from i on that is neither closer nor space.
func (m *mender) closerRun(i int) int {
	for {
		i = m.blank(i)
		if i == len(m.text) || m.text[i] != '}' && m.text[i] != ']' {
			return i
		}
		i++
	}
}

// closersAhead reports whether the run of closers at i is structure and not part
// of a string: what follows the run must fit where it leaves off.
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
		return inList && (c == '{' || c == '[') || newLine && m.keyAt(i) == surely
	case strings.IndexByte("{[;)", c) >= 0:
		return true
	}
	return newLine || i > m.lastClosing()
}

// closeAhead plays the closers from i on against the open containers. It returns
// where they end, and how many containers stay open.
func (m *mender) closeAhead(i int) (after, depth int) {
	depth = len(m.open)
	left := m.opened
	for {
		i = m.blank(i)
		if i == len(m.text) || m.text[i] != '}' && m.text[i] != ']' {
			return i, depth
		}
		for own := left.of(m.text[i] - 2); *own > 0; {
			depth--
			kind := m.open[depth].kind
			*left.of(kind)--
			if kind == m.text[i]-2 {
				break
			}
		}
		i++
	}
}

// sequelAhead reports whether what comes at n, after closers and a comma, is
// structure: a container or a key, or where values may follow any value.
func (m *mender) sequelAhead(n int, values bool) bool {
	if m.ends(n) || strings.IndexByte(",{[}]", m.text[n]) >= 0 || m.commentAt(n) {
		return true
	}
	return values && m.valueAt(n) || m.keyAt(n) != no
}

// lastClosing returns the place of the last quote in the text that a closer
// follows, or -1: prose after the value comes later than that.
func (m *mender) lastClosing() int {
	if m.lastClose != 0 {
		return m.lastClose - 2
	}
	m.work += len(m.text)
	i := len(m.text)
	for i > 0 {
		i = strings.LastIndexAny(m.text[:i], "}]")
		if i < 0 {
			break
		}
		if n := len(strings.TrimRight(m.text[:i], " \t\r\n}]")); n > 0 && m.text[n-1] == '"' {
			i = n - 1
			break
		} else {
			i = n
		}
	}
	m.lastClose = i + 2
	return i
}

// guess is how likely a key begins at some place.
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
	case c == ':':
		return surely
	case c == '}' || c == ']':
		if m.closersAheadOnly(n) {
			return maybe
		}
	case c == ',':
		if m.colonAfterKey(m.blank(n + 1)) {
			return maybe
		}
	case n > after && wordLen(m.text[start:end]) == end-start && m.valueAt(n):
		return maybe
	}
	return no
}

// keyEnd finds the mark that ends a key: on this line, and not far.
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

// closersAheadOnly reports whether closers at i end the text.
func (m *mender) closersAheadOnly(i int) bool { return m.ends(m.closerRun(i)) }

// colonAfterKey reports whether a quoted key and its colon stand at i.
func (m *mender) colonAfterKey(i int) bool {
	if i >= len(m.text) {
		return false
	}
	open := markAt(m.text, i)
	if open.width == 0 {
		return false
	}
	end, w := m.keyEnd(i+open.width, open.kind)
	n := m.blank(end + w)
	return w > 0 && n < len(m.text) && m.text[n] == ':'
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
	// A word and a colon are common in text, too. What follows must be a value,
	// and no inner quotation be open.
	if value := m.blank(n + 1); m.inner%2 == 0 && (value == len(m.text) || m.valueAt(value)) {
		return surely
	}
	return no
}
