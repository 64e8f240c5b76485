package jsonrepair

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// comment drops the comment at pos. One that runs to the end of the text may have
// swallowed members, so that it counts as a cut. One that holds a quotation mark may be
// the rest of a text in quotes, as may one behind a text without them or behind the whole
// value; one before a value may be its beginning.
func (m *mender) comment() {
	end, whole := m.commentEnd(m.pos)
	if strings.ContainsAny(m.text[m.pos:end], `"'`) || len(m.out) > 0 && (len(m.open) == 0 ||
		m.out[len(m.out)-1] == ':') {
		m.doubt()
	}
	m.doubtBare()
	if !whole && len(m.open) > 0 {
		m.cut = MidValue
	}
	if len(m.open) == 0 {
		m.dropAround(KindComment, end-m.pos)
		return
	}
	m.drop(KindComment, end-m.pos)
}

// commentAt reports whether a comment begins at i: //, /* or a # with a blank behind it,
// since #fff may be a value.
func (m *mender) commentAt(i int) bool {
	if i+1 >= len(m.text) {
		return false
	}
	switch next := m.text[i+1]; m.text[i] {
	case '/':
		return next == '/' || next == '*'
	case '#':
		return scan.IsSpace(next)
	}
	return false
}

// hashAt reports whether a # stands at i where no value can: it begins a comment, whatever
// follows.
func (m *mender) hashAt(i int) bool {
	return m.text[i] == '#' && len(m.open) > 0 && m.top().kind == '{' && m.out[len(m.out)-1] != ':'
}

// commentEnd returns where the comment at i ends, and whether it does so before the text.
// A line's comment ends before the line break.
func (m *mender) commentEnd(i int) (end int, whole bool) {
	if strings.HasPrefix(m.text[i:], "/*") {
		end = m.ahead(&m.starSlash, i+2, "*/")
		return min(len(m.text), end+len("*/")), end < len(m.text)
	}
	end = m.ahead(&m.newline, i, "\n")
	return end, end < len(m.text)
}

// found is where something was found, and from where on it was looked for.
type found struct {
	from, at int
	known    bool
}

// ahead returns the first place of what from i on, or the end of the text. It remembers
// the last one, so that asking at every place takes linear time.
func (m *mender) ahead(last *found, i int, what string) int {
	if last.known && last.from <= i && i <= last.at {
		return last.at
	}
	*last = found{from: i, at: len(m.text), known: true}
	if n := strings.Index(m.text[i:], what); n >= 0 {
		last.at = i + n
	}
	m.work += last.at - i + 1
	return last.at
}

// afterComments returns what follows the comments at i. ok is false where the text ends in
// one, or there are too many to look at from every place.
func (m *mender) afterComments(i int) (n int, ok bool) {
	const most = 4
	for range most {
		if i >= len(m.text) || !m.commentAt(i) && m.text[i] != '#' {
			return i, true
		}
		end, whole := m.commentEnd(i)
		if !whole {
			return end, false
		}
		i = m.blank(end)
	}
	return i, false
}

// closesBeforeComment judges a quotation mark with a comment behind it, at n. Structure
// should follow the comment; else a # belongs to the text, and the rest is a guess.
func (m *mender) closesBeforeComment(n int, r role) bool {
	next, ok := m.afterComments(n)
	if r != inRoot && ok && m.structureAt(next, r) {
		return true
	}
	m.doubt()
	return m.text[n] == '/'
}

// structureAt reports whether what may follow a text of a role stands at i.
func (m *mender) structureAt(i int, r role) bool {
	if m.ends(i) {
		return true
	}
	if r == inKey {
		return m.text[i] == ':' || m.text[i] == '='
	}
	return strings.IndexByte(",}]", m.text[i]) >= 0 || r == inObject && m.keyAt(i) == surely ||
		r == inArray && m.valueAt(i)
}
