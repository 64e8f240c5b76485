package jsonrepair

import "strings"

// separate reads what stands between two members: white space, comments, commas and closers. It reports
// whether another member follows in the innermost container.
func (m *mender) separate() bool {
	commas, at := 0, m.pos // at: the first comma, or pos
	for {
		m.skip()
		if m.pos == len(m.text) || m.fenceEnds(m.pos) {
			m.finish(commas > 0)
			return false
		}
		if commas == 0 {
			at = m.pos
		}
		switch c := m.text[m.pos]; {
		case c == ',':
			commas++
			m.pos++
		case c == ';':
			m.doubt()
			m.note(KindComma, m.pos, ";", ",")
			commas++
			m.pos++
		case c == '}' || c == ']':
			if m.close(c) {
				m.noteCommas(0, commas, at)
				return false
			}
		case c == ')' && m.wrappers > 0:
			m.wrappers--
			m.drop(KindWrapper, 1)
		case c == '{' && m.top().kind == '{':
			m.doubt()
			if m.brace() {
				m.pos = at
				return false
			}
		case c == '.' && strings.HasPrefix(m.text[m.pos:], "..."):
			m.doubt()
			m.drop(KindEllipsis, len("..."))
		case c == '`' && strings.HasPrefix(m.text[m.pos:], fence):
			m.drop(KindFence, fenceLen(m.text[m.pos:]))
		case m.danglingQuote():
			// a container, which no quote follows
			behind := m.pos > 0 && strings.IndexByte("}]", m.text[m.pos-1]) >= 0
			// else a key was begun and given up
			if commas != 1 && !behind || m.total > 0 || !m.closersEnd(m.pos+1) {
				m.doubt()
			}
			m.drop(KindQuote, markAt(m.text, m.pos).width)
		case m.top().kind == '{' && m.dropStray():
		default:
			m.noteCommas(min(m.top().members, 1), commas, at)
			return true
		}
	}
}

// noteCommas records the difference between wanted and found commas.
func (m *mender) noteCommas(want, found, at int) {
	switch {
	case found > want:
		m.doubtBare()
		if want == 0 && len(m.open) > 0 && m.top().members == 0 {
			m.doubt()
		}
		m.note(KindComma, at, ",", "")
	case found < want:
		m.doubtBare()
		if m.text[m.pos] == '`' {
			m.doubt()
		}
		m.note(KindComma, m.pos, "", ",")
	}
}

// danglingQuote reports whether the quote at pos opens no string, as only closers follow: {"a":"b","}.
func (m *mender) danglingQuote() bool {
	k := markAt(m.text, m.pos)
	return k.width > 0 && (m.closersEnd(m.pos + k.width))
}

// dropStray drops words at pos before a quoted key, as in {"a":1, NOTE "b":2}, and reports whether there
// are any.
func (m *mender) dropStray() bool {
	n := m.bareKeyLen()
	end := m.pos + n
	if n == 0 || blankWidth(m.text, end-1) == 0 || markAt(m.text, end).width == 0 || m.keyAt(end) != surely {
		return false
	}
	m.doubt()
	m.drop(KindProse, n)
	return true
}

// brace handles an opening brace in place of a key, and reports whether it closed the object: in an
// array it begins the next element, and the object before it lacks its closer. Elsewhere it is surplus.
func (m *mender) brace() bool {
	if n := len(m.open); n > 1 && m.open[n-2].kind == '[' {
		m.note(KindCloser, m.pos, "", "}")
		m.pop()
		return true
	}
	m.drop(KindCloser, 1)
	return false
}

// close reads the closer c, and reports whether it closed the innermost container. One of the other kind
// first closes what is open within its own container; without such a container it is dropped, or
// replaces the right closer.
func (m *mender) close(c byte) bool {
	right := m.top().closer()
	if c == right {
		m.pop()
		m.pos++
		return true
	}
	switch {
	case *m.opened.of(c - 2) > 0:
		m.note(KindCloser, m.pos, "", string(right))
		m.pop()
		return true
	case c == ']' && (len(m.open) > 1 || m.ends(m.blank(m.pos+1))):
		m.note(KindCloser, m.pos, string(c), string(right))
		m.pop()
		m.pos++
		return true
	}
	m.spare++
	m.doubtBare()
	m.drop(KindCloser, 1)
	return false
}

// finish closes all containers at the end of the text. Behind a comma, a colon or an opener, a value was
// cut.
func (m *mender) finish(comma bool) {
	if m.pos < len(m.text) {
		m.doubtBare()
	}
	if comma {
		m.note(KindComma, m.pos, ",", "")
	}
	if comma || m.top().members == 0 && m.spare == 0 {
		m.cut = MidValue
	}
	if m.cut == Whole && m.spare < len(m.open) {
		m.cut = Closers
	}
	from := len(m.out)
	for len(m.open) > 0 {
		m.pop()
	}
	m.note(KindCloser, m.pos, "", string(m.out[from:]))
}

// colon reads what separates a key from its value; null replaces a missing value.
func (m *mender) colon() {
	m.out = append(m.out, ':')
	m.skip()
	at, signs := m.pos, 0
	for m.pos < len(m.text) && !m.commentAt(m.pos) && (m.text[m.pos] == ':' || m.text[m.pos] == '=') {
		if m.text[m.pos] == '=' && strings.HasPrefix(m.text[m.pos+1:], ">") {
			m.pos++
		}
		m.pos++
		signs++
		m.skip()
	}
	switch {
	case signs == 0 && m.pos < len(m.text) && strings.IndexByte(",}]", m.text[m.pos]) < 0:
		m.doubtBare()
		m.note(KindColon, at, "", ":")
	case signs > 1 || signs == 1 && m.text[at] == '=':
		if signs > 1 {
			m.doubt()
		}
		m.note(KindColon, at, m.text[at:m.pos], ":")
	}
}

// unwrap drops what surrounds a value: a bracket as in (1), a constructor as in ObjectId("1"), a code
// fence. It reports whether it did.
func (m *mender) unwrap() bool {
	rest := m.text[m.pos:]
	if strings.HasPrefix(rest, fence) {
		n := fenceLen(rest)
		if after := m.blank(m.pos + n); after == len(m.text) || !m.valueAt(after) {
			return false
		}
		if len(m.open) > 0 {
			m.doubt()
		}
		m.drop(KindFence, n)
		return true
	}
	n := 0
	if rest != "" && rest[0]-'A' < 26 {
		n = wordLen(rest)
	}
	if n == len(rest) || rest[n] != '(' {
		return false
	}
	if n == 0 && !m.parenthesised(m.pos) {
		return false
	}
	m.wrappers++
	m.drop(KindWrapper, n+1)
	return true
}

// prefix drops prefixes of quotes, as in r"x" and @"x", and reports whether it did. Languages disagree
// about backslashes behind them.
func (m *mender) prefix(r role) bool {
	const longest = 2
	for n := 1; r == inObject && n <= longest && m.pos+n < len(m.text); n++ {
		if strings.IndexByte("rRbBuUfFlL@$", m.text[m.pos+n-1]) < 0 {
			return false
		}
		if c := m.text[m.pos+n]; c == '"' || c == '\'' {
			if m.closes(m.pos+n+1, r) {
				return false // b" lacks its first quote
			}
			m.doubt()
			m.drop(KindQuote, n)
			return true
		}
	}
	return false
}

// label drops debris before an object that is a member's value: {"arguments": json {…}}, and reports
// whether it did.
func (m *mender) label(r role) bool {
	const longest = 24
	rest := m.text[m.pos:min(len(m.text), m.pos+longest)]
	n := strings.IndexByte(rest, '{')
	if r != inObject || n <= 0 || strings.ContainsAny(rest[:n], "\"'`´“”„‘’«»「」『』,[]{}()\n0123456789") {
		return false
	}
	word := strings.Trim(rest[:n], " :=")
	if _, literal := literal(word); literal {
		return false
	}
	if strings.IndexFunc(word, func(c rune) bool { return c < 0x80 }) >= 0 && !labels[strings.ToLower(word)] {
		m.doubt()
	}
	m.drop(KindProse, n)
	return true
}

// labels are words that servers and models write before arguments.
var labels = map[string]bool{"json": true, "code": true, "arguments": true, "args": true, "parameters": true,
	"input": true}

// parenthesised reports whether the ( at i surrounds one whole value: (1) is a number, (555) 1234 is
// text.
func (m *mender) parenthesised(i int) bool {
	end := min(len(m.text), i+lookAhead)
	n := strings.IndexByte(m.text[i:end], ')')
	m.work += end - i
	if n < 0 {
		return false
	}
	after := m.blank(i + n + 1)
	return m.ends(after) || strings.IndexByte(",}];", m.text[after]) >= 0
}
