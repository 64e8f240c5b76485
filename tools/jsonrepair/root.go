package jsonrepair

import "strings"

// root reads the value in the text and drops what surrounds it. Several values, separated by commas or
// lines, become one array.
func (m *mender) root() error {
	if err := m.preamble(); err != nil {
		return err
	}
	for values := 1; ; values++ {
		begin := m.text[m.pos]
		if err := m.rootValue(begin); err != nil {
			return err
		}
		more, err := m.another(begin)
		if err != nil {
			return err
		}
		if !more && values > 1 {
			m.note(KindSequence, 0, "", "[]")
			m.out = append(append([]byte{'['}, m.out...), ']')
		}
		if !more {
			return nil
		}
		m.out = append(m.out, ',')
	}
}

// rootValue reads one value that begins with the byte begin. An object continues if a comma and a key
// follow its closer, which came too early.
func (m *mender) rootValue(begin byte) error {
	if err := m.value(inRoot); err != nil {
		return err
	}
	for {
		if err := m.containers(); err != nil {
			return err
		}
		comma := m.closerRun(m.pos)
		if begin != '{' || comma == len(m.text) || m.text[comma] != ',' ||
			m.keyAt(m.blank(comma+1)) != surely {
			return nil
		}
		m.doubt()
		m.note(KindCloser, m.pos-1, m.text[m.pos-1:comma], "")
		m.pos = comma
		m.out = m.out[:len(m.out)-1]
		f := frame{kind: '{'}
		if m.out[len(m.out)-1] != '{' {
			f.members = 1
		}
		m.reopen(f)
	}
}

// preamble moves to the start of the value.
func (m *mender) preamble() error {
	for {
		m.skip()
		rest := m.text[m.pos:]
		if rest == "" {
			return &Error{m.pos, "no JSON value"}
		}
		switch n := m.opening(rest); {
		case n > 0:
			m.dropAround(KindFence, n)
		case n < 0:
			return nil
		default:
			start := m.seek()
			if start == m.pos {
				return nil
			}
			kind := KindProse
			if name := strings.TrimRight(rest[:start-m.pos], " ("); wordLen(name) == len(name) &&
				m.text[start-1] == '(' {
				kind = KindWrapper
				m.wrappers++
			}
			if kind == KindProse && strings.ContainsAny(m.text[m.pos:start], "\"{}[]()\\") {
				m.doubt()
			}
			m.dropAround(kind, start-m.pos)
			return nil
		}
	}
}

// opening judges the start of the text: the length of a code fence to drop, also behind a bracket, -1
// for a value, 0 for anything else.
func (m *mender) opening(rest string) int {
	switch c := rest[0]; {
	case strings.HasPrefix(rest, fence):
		return fenceLen(rest)
	case (c == '{' || c == '[') && strings.HasPrefix(rest[1:], fence):
		return 1 + fenceLen(rest[1:])
	case c == '{' || c == '[' || markAt(rest, 0).width > 0:
		return -1
	}
	return 0
}

// seek finds the value in text that begins otherwise: in a code fence, an object, an array, the argument
// of a callback. It returns pos if all of the text is the value.
func (m *mender) seek() int {
	m.work += len(m.text) - m.pos
	object, array := -1, -1
	for i := m.pos; i < len(m.text) && object < 0; i++ {
		switch c := m.text[i]; {
		case c == '{' && m.opensObject(i):
			object = i
		case c == '[' && array < 0 && m.opensArray(i):
			array = i
		}
	}
	switch {
	case object >= 0 && (array < 0 || strings.IndexByte(m.text[array:object], ']') >= 0):
		return object
	case array >= 0:
		return array
	}
	n := m.pos + wordLen(m.text[m.pos:])
	if paren := m.blank(n); n > m.pos && paren < len(m.text) && m.text[paren] == '(' &&
		m.parenthesised(paren) {
		return paren + 1
	}
	return m.pos
}

func (m *mender) opensObject(i int) bool {
	n := m.blank(i + 1)
	return n == len(m.text) || m.text[n] == '}' || markAt(m.text, n).width > 0 || m.keyAt(n) == surely
}

func (m *mender) opensArray(i int) bool {
	n := m.blank(i + 1)
	return n == len(m.text) || m.text[n] == ']' || m.valueAt(n)
}

// another reports whether a further value follows a root value that began with begin. Anything else is
// dropped.
func (m *mender) another(begin byte) (bool, error) {
	from := m.pos
	m.skip()
	at, lines := m.pos, m.lineBreak(from, m.pos)
	comma := at < len(m.text) && m.text[at] == ','
	if comma {
		m.pos++
		m.skip()
	}
	if m.pos == len(m.text) || !m.continues(begin) {
		if comma {
			m.note(KindComma, at, ",", "")
		}
		return false, m.dropRest(begin)
	}
	if !comma && !lines {
		return false, &Error{m.pos, "a second value follows the first"}
	}
	return true, nil
}

// continues reports whether the text at pos continues a sequence: containers follow containers, scalars
// scalars.
func (m *mender) continues(begin byte) bool {
	c := m.text[m.pos]
	container := c == '{' || c == '['
	if begin == '{' || begin == '[' {
		return container
	}
	return !container && m.valueAt(m.pos)
}

// dropRest drops the text behind the value, unless closers without openers show that it contains
// members.
func (m *mender) dropRest(begin byte) error {
	rest := strings.TrimRight(m.text[m.pos:], asciiSpace)
	if rest == "" {
		return nil
	}
	if begin == '{' && strings.Contains(rest, `"`) && strings.Count(rest, "}") > strings.Count(rest, "{") {
		return &Error{m.pos, "the object goes on after its end"}
	}
	kind := KindProse
	switch c := rest[0]; {
	case strings.HasPrefix(rest, fence):
		kind = KindFence
	case c == '}' || c == ']':
		kind = KindCloser
	case c == ')' || c == ';':
		kind = KindWrapper
	}
	remark := kind == KindProse && m.total == 0 && m.text[m.pos-1] == '\n' &&
		!strings.ContainsAny(rest, "\"'`{}[]")
	if !remark {
		m.doubtBare()
	}
	if kind == KindProse && !remark || kind == KindCloser && (m.noText || m.shutText && m.total > 0) {
		m.doubt()
	}
	m.dropAround(kind, len(rest))
	return nil
}
