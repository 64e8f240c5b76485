package jsonrepair

import "strings"

// endedBefore judges a quotation mark at q that closes nothing: it may open the next string, as the one
// at start lost its closing quote. Behind inner quotes, a word and a colon do not prove that.
func (m *mender) endedBefore(start, q, after int, r role) (end int, ok bool) {
	p := m.trim(start, q) - 1
	if p < start {
		return 0, false
	}
	switch c := m.text[p]; {
	case r == inKey: // {"key:"value"}
		return p, c == ':' && wordLen(m.text[start:min(p, start+lookAhead)]) == p-start
	case r == inArray && c == ',': // ["a,"b"]
		end, w := m.keyEnd(after, double)
		return p, w > 0 && m.textAt(after) && m.closes(end+w, inArray)
	case r == inObject && c == ',': // {"a":"b,"c":1}
		return p, m.keyAt(q) == surely
	case r == inObject && c == ':' && m.inner == 0: // {"a":"b, c:"d"}
		return m.commaBeforeKey(start, m.trim(start, p))
	case r == inObject && m.inner == 0: // {"a":"b, c":1}
		if n := m.blank(after); n < len(m.text) && m.text[n] == ':' {
			return m.commaBeforeKey(start, q)
		}
	}
	return 0, false
}

// commaBeforeKey finds the comma before the bare key that ends at end.
func (m *mender) commaBeforeKey(start, end int) (comma int, ok bool) {
	i, floor := end, max(start, end-lookAhead)
	for i > floor && isWordByte(m.text[i-1]) {
		i--
	}
	m.work += end - i + 1
	comma = m.trim(start, i) - 1
	return comma, i < end && comma > start && m.text[comma] == ','
}

// unclosed ends a string that begins at start and has no closing quote. If text ends in a closer, the
// string ends before the first apparent structure; else it takes the rest.
func (m *mender) unclosed(start int, r role) extent {
	last := m.trim(0, len(m.text))
	rest := extent{end: len(m.text), next: len(m.text), cut: true}
	if r == inKey {
		n := start + wordLen(m.text[start:])
		k := markAt(m.text, n) // of another kind
		if colon := m.blank(n + k.width); colon < len(m.text) && m.text[colon] == ':' {
			return extent{end: n, next: n + k.width, quote: k.width > 0, cut: k.width == 0}
		}
	}
	if r == inRoot || last <= start || strings.IndexByte("}]", m.text[last-1]) < 0 {
		return rest
	}
	if body, closer := m.text[start:last], m.text[last-1:last]; strings.Count(body,
		string(closer[0]-2)) >= strings.Count(body, closer) {
		return rest // the text itself opened what it closes
	}
	end, all := m.beforeClosers(start, last)
	for i := start; i < end; i++ {
		m.work++
		if m.text[i] == ',' && (r == inArray || r == inObject && m.keyAt(m.blank(i+1)) == surely) {
			end = i
		}
	}
	return extent{end: m.trim(start, end), next: end, cut: !all, lost: all}
}

// beforeClosers steps back from the end of the text over the closers of open containers. all reports
// that all are there.
func (m *mender) beforeClosers(start, last int) (end int, all bool) {
	end = last
	for i := range m.open {
		if end <= start || m.text[end-1] != m.open[i].closer() {
			return end, false
		}
		end = m.trim(start, end-1)
	}
	return end, true
}
