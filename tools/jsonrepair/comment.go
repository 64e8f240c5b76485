package jsonrepair

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// comment drops the comment at pos. One that ends the text may contain members and counts as a cut. It
// is in doubt if it contains a quotation mark, or stands behind an unquoted text, behind the whole
// value, or before a value.
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

// commentAt reports whether a comment begins at i: //, /* or a # with a blank behind it, as #fff may be
// a value.
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

// hashAt reports whether a # at i stands where no value can, and so begins a comment.
func (m *mender) hashAt(i int) bool {
	return m.text[i] == '#' && len(m.open) > 0 && m.top().kind == '{' && m.out[len(m.out)-1] != ':'
}

// commentEnd returns the end of the comment at i, and whether it ends before the text. A line comment
// ends before the line break.
func (m *mender) commentEnd(i int) (end int, whole bool) {
	if strings.HasPrefix(m.text[i:], "/*") {
		end = m.ahead(&m.starSlash, i+2, "*/")
		return min(len(m.text), end+len("*/")), end < len(m.text)
	}
	end = m.ahead(&m.newline, i, "\n")
	return end, end < len(m.text)
}

// found is the result of a search and its start.
type found struct {
	from, at int
	known    bool
}

// ahead returns the first offset of what from i on, or the end of the text. It keeps the last result, so
// that repeated calls take linear time.
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

// afterComments returns what follows the comments at i. ok is false if the text ends in one, or there
// are too many to look at.
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

// closesBeforeComment judges a quotation mark before a comment at n. Structure should follow the
// comment; else a # belongs to the text, and others are doubtful.
func (m *mender) closesBeforeComment(n int, r role) bool {
	next, ok := m.afterComments(n)
	if r != inRoot && ok && m.structureAt(next, r) {
		return true
	}
	m.doubt()
	return m.text[n] == '/'
}

// structureAt reports whether structure stands at i that may follow a text of a role.
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
