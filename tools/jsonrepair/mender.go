package jsonrepair

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// mender reads damaged JSON once, from left to right, and writes valid JSON. It
// keeps open containers on a stack of its own, looks ahead over bounded distances or
// remembers what it found, so that no input costs more than linear time or deep recursion.
type mender struct {
	text     string
	doc      []byte // text again
	maxDepth int

	pos      int     // next byte to read; moves back over a comma at most
	out      []byte  // valid JSON but for the closers of open
	open     []frame // containers that still need their closer, outermost first
	opened   tally   // how many of each kind are open
	wrappers int     // "(" dropped whose ")" is still to come

	changes   []Change
	around    []string // what stands around the value
	total     int
	cut       Cut
	unsure    bool
	unescaped bool // the text being written was never escaped, it seems
	shutText  bool // the last text holds a closer: one that follows may be part of it
	noText    bool // the last text is empty: what follows may be it
	bareText  bool // a text without quotes was read: a closer may belong to it
	bareWord  bool // true, false or null was: it may be a text without quotes
	words     bool // that is doubted
	escapes   escapes
	spare     int // wrong closers dropped since the last value; each stands for a missing one

	inner      int                   // quotation marks passed in the string being read; odd: one of a pair
	closeless  [roleCount][marks]int // 1 + where a search began that found no closing quote
	nestedFrom int                   // before this place no more is looked for JSON in a string
	lastClose  int                   // place of the last quote that a closer follows, or -1
	misses     int                   // containers that were no valid JSON after all
	newline    found                 // the next line break
	starSlash  found                 // the next */
	work       int                   // bytes looked at, so that tests can hold this to linear time
}

// frame is an open container.
type frame struct {
	kind     byte // '{' or '['
	members  int  // members or elements written
	bareKeys bool // some key came without quotes
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

// role says where a value stands; the look-ahead depends on it.
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

// copied copies the container at pos as it is, if it is valid JSON and structure
// follows. After maxMisses vain attempts none is made, so that they cost no more
// than so many passes over the text.
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

// missing writes the null that stands for a value that is not there.
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

// count writes the comma that parts the next member from the one before.
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

// reopen puts f on the stack.
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

// dropAround skips n bytes that stand before or behind the value.
func (m *mender) dropAround(kind string, n int) {
	m.around = append(m.around, m.text[m.pos:m.pos+n])
	m.drop(kind, n)
}

// excerpt is the beginning of s, as a change shows it.
func excerpt(s string) string { return scan.Head(s, maxShown) }
