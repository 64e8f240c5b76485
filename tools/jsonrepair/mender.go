package jsonrepair

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// mender reads damaged JSON once, from left to right, and writes valid JSON. It keeps open containers on
// its own stack, and looks ahead over bounded distances or caches results, so that every input takes
// linear time without deep recursion.
type mender struct {
	text     string
	doc      []byte // text as bytes
	maxDepth int

	pos      int     // next byte to read; moves back over a comma at most
	out      []byte  // valid JSON without the closers of open
	open     []frame // containers without their closer, outermost first
	opened   tally   // number of open containers by kind
	wrappers int     // dropped "(" whose ")" is expected

	changes   []Change
	around    []string // text around the value
	total     int
	cut       Cut
	unsure    bool
	unescaped bool // the text being written seems unescaped
	shutText  bool // the last text contains a closer: the next one may be part of it
	noText    bool // the last text is empty: what follows may be it
	bareText  bool // an unquoted text was read: a closer may belong to it
	bareWord  bool // true, false or null was read: it may be an unquoted text
	words     bool // bareWord was in doubt
	escapes   escapes
	spare     int // wrong closers dropped since the last value; each replaces a missing one

	inner      int                   // quotation marks passed in the string being read; odd: one is open
	closeless  [roleCount][marks]int // 1 + start of a search that found no closing quote
	nestedFrom int                   // no JSON within a string is searched before this offset
	lastClose  int                   // offset of the last quote with a closer behind it, or -1
	misses     int                   // containers that were no valid JSON
	newline    found                 // the next line break
	starSlash  found                 // the next */
	work       int                   // bytes looked at, for tests of linear time
}

// frame is an open container.
type frame struct {
	kind     byte // '{' or '['
	members  int  // members or elements written
	bareKeys bool // some key had no quotes
}

func (f *frame) closer() byte { return f.kind + 2 } // } follows { by two in ASCII, as ] follows [

// tally counts containers by kind.
type tally struct{ braces, brackets int }

func (t *tally) of(kind byte) *int {
	if kind == '{' {
		return &t.braces
	}
	return &t.brackets
}

// role is the position of a value, for the look-ahead.
type role int

const (
	inRoot role = iota
	inArray
	inObject
	inKey
	roleCount = int(inKey) + 1
)

// mend reads the whole text.
func (m *mender) mend() (Result, error) {
	m.unescapeRoot()
	m.doc = []byte(m.text)
	m.lastClose = lastClosing(m.text)
	m.out = make([]byte, 0, len(m.text)+len(m.text)/16+16)
	if err := m.root(); err != nil {
		return Result{}, err
	}
	closed := slices.ContainsFunc(m.changes,
		func(c Change) bool { return c.Kind == KindCloser && c.To != "" })
	if closed && m.beginsAgain() {
		m.doubt()
	}
	slices.SortStableFunc(m.changes, func(a, b Change) int { return a.At - b.At })
	return Result{JSON: m.out, Changes: m.changes, Total: m.total, Cut: m.cut, Around: strings.Join(m.around,
		" "), Unsure: m.unsure || m.escapes.mixed(), Words: m.words}, nil
}

// containers reads until every open container is closed.
func (m *mender) containers() error {
	for len(m.open) > 0 {
		if !m.separate() {
			continue
		}
		var err error
		if m.top().kind == '{' {
			err = m.member()
		} else {
			m.count()
			err = m.value(inArray)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// member reads a key, its colon and the beginning of its value.
func (m *mender) member() error {
	if err := m.key(); err != nil {
		return err
	}
	m.colon()
	return m.value(inObject)
}

// value reads a scalar, or the opening of a container.
func (m *mender) value(r role) error {
	for m.skip(); m.unwrap() || m.label(r) || m.prefix(r); m.skip() {
	}
	if m.spare > 0 {
		m.doubt() // a closer was dropped, and members follow
	}
	m.spare = 0
	if m.ends(m.pos) {
		m.cut = MidValue
		return m.missing()
	}
	switch c := m.text[m.pos]; {
	case c == '{' || c == '[':
		if m.copied() {
			return nil
		}
		return m.push(c)
	case c == ',' || c == '}' || c == ']' || c == ')' && m.wrappers > 0:
		return m.missing()
	case markAt(m.text, m.pos).width > 0:
		m.quoted(r)
	default:
		m.bare(r)
	}
	return nil
}

// copied copies the container at pos if it is valid JSON and structure follows. After maxMisses failures
// it stops trying, which bounds the passes over the text.
func (m *mender) copied() bool {
	const maxMisses = 16
	if m.misses == maxMisses || len(m.open) == 0 {
		return false
	}
	if end := validEnd(m.doc, m.pos, m.maxDepth-len(m.open)); end >= 0 {
		after := m.blank(end)
		if m.work += end - m.pos; m.ends(after) || strings.IndexByte(",}]", m.text[after]) >= 0 {
			m.escapes.add(m.text[m.pos:end], jsonEscapes)
			m.out = append(m.out, m.text[m.pos:end]...)
			m.pos, m.noText = end, false
			return true
		}
	}
	m.misses++
	m.work += len(m.text) - m.pos
	return false
}

// missing writes null for a missing value.
func (m *mender) missing() error {
	if len(m.open) == 0 {
		return &Error{m.pos, "no JSON value"}
	}
	if before := m.trim(0, m.pos); m.pos < len(m.text) && (strings.IndexByte(":=>,", m.text[before-1]) >= 0 ||
		m.text[m.pos] == ']') {
		m.doubt() // a sign of structure may be the value
	}
	m.out = append(m.out, "null"...)
	m.note(KindValue, m.pos, "", "null")
	return nil
}

// count writes the comma before the next member.
func (m *mender) count() {
	if m.top().members++; m.top().members > 1 {
		m.out = append(m.out, ',')
	}
}

func (m *mender) top() *frame { return &m.open[len(m.open)-1] }

func (m *mender) push(kind byte) error {
	if len(m.open) == m.maxDepth {
		return &Error{m.pos, fmt.Sprintf("nested deeper than %d", m.maxDepth)}
	}
	m.pos++
	m.reopen(frame{kind: kind})
	m.out = append(m.out, kind)
	return nil
}

// reopen pushes f.
func (m *mender) reopen(f frame) {
	m.open = append(m.open, f)
	*m.opened.of(f.kind)++
}

// pop closes the innermost container.
func (m *mender) pop() {
	f := m.top()
	m.out = append(m.out, f.closer())
	*m.opened.of(f.kind)--
	m.open = m.open[:len(m.open)-1]
}

// note records a change of from, at offset at, into to.
func (m *mender) note(kind string, at int, from, to string) {
	m.total++
	if len(m.changes) < MaxChanges {
		m.changes = append(m.changes, Change{Kind: kind, At: at, From: excerpt(from), To: excerpt(to)})
	}
}

// drop skips n bytes and records that.
func (m *mender) drop(kind string, n int) {
	m.note(kind, m.pos, m.text[m.pos:m.pos+n], "")
	m.pos += n
}

// dropAround skips n bytes before or behind the value.
func (m *mender) dropAround(kind string, n int) {
	m.around = append(m.around, m.text[m.pos:m.pos+n])
	m.drop(kind, n)
}

// excerpt returns the beginning of s for a change.
func excerpt(s string) string { return scan.Head(s, maxShown) }
