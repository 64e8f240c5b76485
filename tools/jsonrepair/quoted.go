package jsonrepair

import "strings"

// mark is a quotation mark in the text.
type mark struct {
	kind  markKind
	width int // in bytes; 0 is no mark
}

type markKind int

const (
	double      markKind = iota // "
	single                      // '
	curlyDouble                 // “ ” „
	curlySingle                 // ‘ ’ ` ´
	marks       = int(curlySingle) + 1
)

// markAt returns the quotation mark at i, which may be the end of s.
func markAt(s string, i int) mark {
	if i >= len(s) {
		return mark{}
	}
	switch s[i] {
	case '"':
		return mark{double, 1}
	case '\'':
		return mark{single, 1}
	case '`':
		return mark{curlySingle, 1}
	case 0xC2:
		if strings.HasPrefix(s[i:], "´") {
			return mark{curlySingle, 2}
		}
	case 0xE2:
		if i+2 < len(s) && s[i+1] == 0x80 {
			switch s[i+2] {
			case 0x98, 0x99: // ‘ ’
				return mark{curlySingle, 3}
			case 0x9C, 0x9D, 0x9E: // “ ” „
				return mark{curlyDouble, 3}
			}
		}
	}
	return mark{}
}

// closedBy reports whether k can end a string that open began. A straight quote needs its own kind; a
// curly one takes any of its family.
func (open markKind) closedBy(k markKind) bool {
	return open == k || open == curlyDouble && k == double || open == curlySingle && k == single
}

// nextMark finds the next quotation mark from i on that could end a string begun
// by open, escaped ones left out.
func (m *mender) nextMark(i int, open markKind) (int, mark) {
	from, s := i, m.text
	for i < len(s) {
		if s[i] == '\\' {
			i += 2
			continue
		}
		if plainByte[s[i]] && open == double {
			i++
			continue
		}
		if k := markAt(s, i); k.width > 0 && open.closedBy(k.kind) {
			m.work += i - from + 1
			return i, k
		}
		i++
	}
	m.work += i - from + 1
	return len(s), mark{}
}

// extent is the end of a string.
type extent struct {
	end   int  // behind its last byte
	next  int  // where reading continues, behind a closing quote
	quote bool // a quote closed it
	cut   bool // the text ended first
	lost  bool // no quote closed it, but the closers of all containers end the text
}

// quoted reads a string in quotes of any kind, and those joined to it: by +, or on lines of their own.
func (m *mender) quoted(r role) {
	m.oneQuoted(r)
	for r != inKey {
		n := m.blank(m.pos)
		plus := n < len(m.text) && m.text[n] == '+' && m.joins(n)
		if !plus && (r != inObject || n >= len(m.text) || !m.lineBreak(m.pos, n) ||
			markAt(m.text, n).width == 0 || !m.wholeText(n)) {
			return
		}
		m.doubt()
		m.pos = n
		if plus {
			m.note(KindConcat, n, "+", "")
			m.pos = m.blank(n + 1)
		} else {
			m.note(KindConcat, n, "", "+")
		}
		m.skip()
		if m.pos == len(m.text) || markAt(m.text, m.pos).width == 0 {
			return
		}
		before := len(m.out) - 1
		m.oneQuoted(r)
		m.out = append(m.out[:before], m.out[before+2:]...) // drops the two quotes between
	}
}

// joins reports whether the + at i joins two strings.
func (m *mender) joins(i int) bool { return m.opensString(i+1) || m.commentAt(m.blank(i+1)) }

// oneQuoted reads one string in quotes.
func (m *mender) oneQuoted(r role) {
	at, open := m.pos, markAt(m.text, m.pos)
	start, e := m.openingAndExtent(at, open, r)
	m.inner = 0
	if opening := m.text[at:start]; opening != `"` {
		m.note(KindQuote, at, opening, `"`)
	}
	if r != inKey {
		m.judgeText(start, e.end, open)
	} else if !plainKey(m.text[start:e.end]) {
		m.doubt()
	}
	// and no other mark could be the text's
	doubled := m.text[at:start] == `""` && !strings.ContainsAny(m.text[start:e.end], "\"'`\\")
	if !e.quote || r != inKey && e.next-e.end < start-at && !doubled {
		m.doubt() // it lacks a mark, or has a surplus one
	}
	m.writeString(start, e.end)
	switch closing := m.text[e.end:e.next]; {
	case !e.quote:
		m.note(KindQuote, e.end, "", `"`)
	case closing != `"` && open.kind == double:
		m.note(KindQuote, e.end, closing, `"`)
	}
	switch {
	case e.cut && !e.quote && r == inObject && m.inner == 0 && m.cut < Unended:
		m.cut = Unended
	case e.cut:
		m.cut = MidValue
	case e.lost:
		m.cut = max(m.cut, Unquoted)
	}
	m.pos = e.next
}

// openingAndExtent returns the start and end of the content of the string at i. It also knows
// """triple""" and ""doubled"" quotes.
func (m *mender) openingAndExtent(i int, open mark, r role) (int, extent) {
	one := m.text[i : i+open.width]
	start := i + open.width
	if r != inKey && open.width == 1 && strings.HasPrefix(m.text[start:], one+one) {
		start += 2
		if n := strings.Index(m.text[start:], one+one+one); n >= 0 {
			m.work += n
			return start, extent{end: start + n, next: start + n + 3, quote: true}
		}
		return start, extent{end: len(m.text), next: len(m.text), cut: true}
	}
	if strings.HasPrefix(m.text[start:], one) && m.textAt(start+open.width) &&
		(r == inKey || m.keyAt(start) != surely) {
		start += open.width
		return start, m.stringExtent(start, open.kind, one, r)
	}
	return start, m.stringExtent(start, open.kind, "", r)
}

// textAt reports whether words continue at i, and no structure.
func (m *mender) textAt(i int) bool {
	return i < len(m.text) && strings.IndexByte(",:;}]) \n\r\t\"'`", m.text[i]) < 0
}

// stringExtent finds the end of the string whose content begins at start. The mark again may follow the
// closing one.
func (m *mender) stringExtent(start int, open markKind, again string, r role) extent {
	known := &m.closeless[r][open]
	if *known > 0 && start >= *known-1 {
		return m.unclosed(start, r)
	}
	i := start
	for m.inner = 0; ; m.inner++ {
		q, k := m.nextMark(i, open)
		if k.width == 0 {
			*known = start + 1
			return m.unclosed(start, r)
		}
		after := q + k.width
		if again != "" && strings.HasPrefix(m.text[after:], again) {
			after += len(again)
		}
		if m.closes(after, r) {
			// An inner quote at the end of the text closes nothing for sure.
			cut := m.inner > 0 && r != inRoot && m.blank(after) == len(m.text)
			return extent{end: q, next: after, quote: true, cut: cut}
		}
		if end := m.nestedEnd(start, q, r); end > 0 {
			i = end
			m.inner++ // its quotes are paired
			continue
		}
		if end, ok := m.endedBefore(start, q, after, r); ok {
			return extent{end: m.trim(start, end), next: end}
		}
		i = after
	}
}

// nestedEnd returns the end of unescaped JSON within a string, as in "run {"a": 1} now", where q is its
// first quote; 0 if there is none.
func (m *mender) nestedEnd(start, q int, r role) int {
	p := m.trim(start, q) - 1
	if r == inKey || p < max(start, m.nestedFrom) || m.text[p] != '{' && m.text[p] != '[' {
		return 0
	}
	n, ok := End(m.text[p:])
	if !ok {
		m.work += len(m.text) - p
		m.nestedFrom = len(m.text)
		return 0
	}
	m.work += n
	m.nestedFrom = p + n
	return p + n
}
