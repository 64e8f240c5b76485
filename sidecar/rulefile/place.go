package rulefile

import (
	"fmt"
	"strings"
)

// source is one rule file as text, which problems quote.
type source struct {
	name  string
	lines []string
}

// byteOrder is a mark at the start of a text by some editors. It has no meaning and no column.
const byteOrder = "\ufeff"

func newSource(name, text string) *source {
	return &source{name, strings.Split(strings.ReplaceAll(strings.TrimPrefix(text, byteOrder), "\r\n", "\n"),
		"\n")}
}

// LineOf returns the span of the text on a line, by its number from 1.
func LineOf(name, doc string, n int) Place { return newSource(name, doc).lineAt(n) }

// line returns a line by its number from 1.
func (s *source) line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	return s.lines[n-1]
}

// last returns the number of the last line that is not blank.
func (s *source) last() int {
	n := len(s.lines)
	for n > 1 && strings.TrimSpace(s.lines[n-1]) == "" {
		n--
	}
	return n
}

// whole returns a problem of the whole file.
func (s *source) whole(code, msg, hint string) Problem {
	return Problem{File: s.name, Code: code, Msg: msg, Hint: hint}
}

// lineAt returns the span of the text on a line.
func (s *source) lineAt(n int) Place {
	text := []rune(strings.TrimRight(s.line(n), " \t\r"))
	start := 0
	for start < len(text) && (text[start] == ' ' || text[start] == '\t') {
		start++
	}
	return Place{s, n, start + 1, len(text) + 1}
}

// Place is a span on one line of a source. Columns count runes from 1; end is the first one after the span.
type Place struct {
	src            *source
	line, col, end int
}

// String returns file:line, as in traces and logs.
func (p Place) String() string {
	if p.src == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.src.name, p.line)
}

// Precise returns file:line:column.
func (p Place) Precise() string { return fmt.Sprintf("%s:%d", p, p.col) }

// Known reports whether there is a place. What could not be read has none.
func (p Place) Known() bool { return p.src != nil }

// File returns the name of the file; empty without a place.
func (p Place) File() string {
	if p.src == nil {
		return ""
	}
	return p.src.name
}

// Line returns the number of the line from 1.
func (p Place) Line() int { return p.line }

// Before returns the text before the span on its line.
func (p Place) Before() string {
	line := []rune(p.src.line(p.line))
	return string(line[:min(max(p.col-1, 0), len(line))])
}

// Problem returns a problem at this place, which must be known.
func (p Place) Problem(code, msg, hint string) Problem {
	return Problem{
		File: p.src.name, Line: p.line, Col: p.col, EndCol: max(p.end, p.col+1),
		Code: code, Msg: msg, Hint: hint, Source: p.src.line(p.line),
	}
}

// Text is a string of a rule file with the places of its characters.
type Text struct {
	Value string
	At    Place  // its first character: a quote, or | or > of a block
	tail  string // what YAML took as a comment behind it
}

// String and MarshalText make it a plain string in logs and answers.
func (t Text) String() string               { return t.Value }
func (t Text) MarshalText() ([]byte, error) { return []byte(t.Value), nil }

// Span returns the place of runes from..to of the value, on the line of the first. A text that could not be
// read has no place.
func (t Text) Span(from, to int) Place {
	if t.At.src == nil {
		return t.At
	}
	spots := locate(t.At.src.lines, t.At.line, t.At.col, t.Value)
	if spots == nil {
		return t.At
	}
	from = min(max(from, 0), len(spots)-1)
	to = min(max(to, from), len(spots)-1)
	p := Place{t.At.src, spots[from].line, spots[from].col, spots[from].col + 1}
	for i := from; i < to && spots[i].line == p.line; i++ {
		p.end = spots[i].col + 1
	}
	return p
}

// Cut returns the place of what YAML took as a comment, if anything.
func (t Text) Cut() (at Place, ok bool) {
	if t.tail == "" {
		return Place{}, false
	}
	before, _, found := strings.Cut(t.At.src.line(t.At.line), t.tail)
	if !found {
		return t.All(), true
	}
	col := len([]rune(before)) + 1
	return Place{t.At.src, t.At.line, col, col + len([]rune(t.tail))}, true
}

// All returns the place of the whole value, or of its first non-empty line.
func (t Text) All() Place {
	lead := len(t.Value) - len(strings.TrimLeft(t.Value, " \n\t"))
	return t.Span(lead, len([]rune(strings.TrimRight(t.Value, " \n\t"))))
}

// Number is a whole number with its place.
type Number struct {
	Value int
	At    Place
}
