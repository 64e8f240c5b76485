package ruleset

import (
	"fmt"
	"strings"
)

// source is one rule file as text: what problems quote.
type source struct {
	name  string
	lines []string
}

func newSource(name, text string) *source {
	return &source{name, strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")}
}

// line gives a line by its number from 1.
func (s *source) line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	return s.lines[n-1]
}

// whole is a problem with the file, not with one of its lines.
func (s *source) whole(code, msg, hint string) Problem {
	return Problem{File: s.name, Code: code, Msg: msg, Hint: hint}
}

// lineAt is the span of what stands on a line.
func (s *source) lineAt(n int) place {
	text := []rune(strings.TrimRight(s.line(n), " \t\r"))
	start := 0
	for start < len(text) && (text[start] == ' ' || text[start] == '\t') {
		start++
	}
	return place{s, n, start + 1, len(text) + 1}
}

// place is a span on one line of a source. Columns count runes from 1; end is
// the first one after the span.
type place struct {
	src            *source
	line, col, end int
}

// String is file:line, as it goes into traces and logs.
func (p place) String() string {
	if p.src == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.src.name, p.line)
}

// bare reports whether a dot stands before the span, and nothing before that.
func (p place) bare() bool {
	line := []rune(p.src.line(p.line))
	return p.col > 2 && p.col-1 <= len(line) && line[p.col-2] == '.' && strings.ContainsRune(" (,!", line[p.col-3])
}

func (p place) problem(code, msg, hint string) Problem {
	return Problem{
		File: p.src.name, Line: p.line, Col: p.col, EndCol: max(p.end, p.col+1),
		Code: code, Msg: msg, Hint: hint, Source: p.src.line(p.line),
	}
}

// text is a string of a rule file, each of whose characters can be found again.
type text struct {
	Value string
	at    place  // its first character: a quote, a | or > for a block
	tail  string // what YAML took as a comment after it
}

// span is the place of the runes from..to of the value, on the line where the
// first of them stands. A text that could not be read has no place.
func (t text) span(from, to int) place {
	if t.at.src == nil {
		return t.at
	}
	spots := locate(t.at.src.lines, t.at.line, t.at.col, t.Value)
	if spots == nil {
		return t.at
	}
	from = min(max(from, 0), len(spots)-1)
	to = min(max(to, from), len(spots)-1)
	p := place{t.at.src, spots[from].line, spots[from].col, spots[from].col + 1}
	for i := from; i < to && spots[i].line == p.line; i++ {
		p.end = spots[i].col + 1
	}
	return p
}

// all is the place of the whole value, or of its first line that is not empty.
func (t text) all() place {
	lead := len(t.Value) - len(strings.TrimLeft(t.Value, " \n\t"))
	return t.span(lead, len([]rune(strings.TrimRight(t.Value, " \n\t"))))
}

// number is a whole number with its place.
type number struct {
	Value int
	at    place
}
