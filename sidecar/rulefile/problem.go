package rulefile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Problem is one mistake in the rule files, and its place. Columns count characters from 1; EndCol is the
// first one after the span. Line 0 means the whole file.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	EndCol  int    `json:"end_col"`
	Code    string `json:"code"` // stable, for example E-key
	Msg     string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Source  string `json:"source,omitempty"` // the line as written
	Warning bool   `json:"warning,omitempty"`
}

// Codes of problems of any file. They never change their meaning.
const (
	CodeFile    = "E-file"    // a file is missing, misnamed, empty or not text
	CodeYAML    = "E-yaml"    // not YAML, or YAML that does not mean what it seems to
	CodeKey     = "E-key"     // unknown key
	CodeDup     = "E-dup"     // the same key, id or priority twice
	CodeMissing = "E-missing" // a required key is missing
	CodeType    = "E-type"    // a text where a number should be, and the like
	CodeValue   = "E-value"   // the right type, but not one of the allowed values
	CodeRef     = "E-ref"     // an id that does not exist

	CodeLocked = "W-locked" // looser than the locked folder, which is in force
)

// Error returns place and message on one line.
func (p *Problem) Error() string {
	where := p.File
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
	}
	level := ""
	if p.Warning {
		level = "warning: "
	}
	return fmt.Sprintf("%s: %s%s [%s]", where, level, p.Msg, p.Code)
}

// Problems are all mistakes in the rule files, sorted by place.
type Problems []Problem

// Fatal reports whether one is more than a warning.
func (ps Problems) Fatal() bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return !p.Warning })
}

// Unreadable returns a problem for files that could not be read.
func Unreadable(folder string, err error) Problems {
	return Problems{{File: folder, Code: CodeFile, Msg: err.Error()}}
}

// In returns the problems with file names as on disk.
func (ps Problems) In(src Source) Problems {
	out := slices.Clone(ps)
	for i := range out {
		out[i].File = src.OnDisk(out[i].File)
		if src.Policy != "" && out[i].Code == CodeLocked { // it names a file of the locked folder
			out[i].Hint = strings.Replace(out[i].Hint, PolicyFolder+"/", src.Policy+"/", 1)
		}
	}
	return out
}

// Error renders each problem with its line and a caret under the span.
func (ps Problems) Error() string {
	var b strings.Builder
	for i := range ps {
		ps[i].render(&b)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (p *Problem) render(b *strings.Builder) {
	b.WriteString(p.Error() + "\n")
	if p.Line > 0 && strings.TrimSpace(p.Source) != "" {
		line, before, under := excerpt([]rune(p.Source), p.Col-1, p.EndCol-1)
		fmt.Fprintf(b, "  %4d | %s\n", p.Line, line)
		fmt.Fprintf(b, "       | %s%s\n", strings.Repeat(" ", before), strings.Repeat("^", max(1, under)))
	}
	if p.Hint != "" {
		fmt.Fprintf(b, "         %s\n", p.Hint)
	}
}

// excerpt returns the part of a line around a span, and the terminal cells before and under it.
func excerpt(line []rune, from, to int) (text string, before, under int) {
	const around = 60
	from = min(max(from, 0), len(line))
	to = min(max(to, from), len(line))
	to = min(to, from+2*around) // of a long span the beginning is enough
	first, last, head, tail := 0, len(line), "", ""
	if from > 2*around {
		first, head = from-around, "…"
	}
	if last > to+2*around {
		last, tail = to+around, "…"
	}
	show := slices.Clone(line[first:last])
	for i, r := range show {
		if unicode.IsControl(r) {
			show[i] = ' '
		}
	}
	before = cells(show[:from-first]) + len([]rune(head))
	return head + string(show) + tail, before, cells(show[from-first : to-first])
}

// cells returns the width of text in a terminal: East Asian characters and emoji take two cells, combining
// marks none.
func cells(text []rune) int {
	n := len(text)
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
			n--
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul),
			r >= 0xFF01 && r <= 0xFF60, r >= 0x3001 && r <= 0x3002, r >= 0x1F300 && r <= 0x1FAFF:
			n++
		}
	}
	return n
}

// Sorted sorts problems by file and place, and drops duplicates.
func (ps Problems) Sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return slices.Compact(ps)
}

// Nearest returns the word that differs from name by at most two letters, and by less than half.
func Nearest(name string, words []string) (string, bool) {
	best, found := 3, ""
	for _, w := range words {
		if d := distance(name, w); d < best && 2*d < len(w) {
			best, found = d, w
		}
	}
	return found, found != ""
}

// distance is the number of letters to insert, drop, change or swap.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	var before []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(last[j]+change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// DidYouMean returns a hint with the nearest word, or with all words.
func DidYouMean(name string, words []string) string {
	return DidYouMeanOr(name, words, "one of: "+strings.Join(words, ", "))
}

// DidYouMeanOr returns a hint with the nearest word, or the other hint.
func DidYouMeanOr(name string, words []string, otherwise string) string {
	if w, ok := Nearest(name, words); ok {
		return "did you mean " + w + "?"
	}
	return otherwise
}

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

var (
	inMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// WorkflowCommand makes GitHub show a problem at its line.
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
func (p *Problem) WorkflowCommand() string {
	level := "error"
	if p.Warning {
		level = "warning"
	}
	var properties []string
	if p.File != "" {
		properties = append(properties, "file="+inProperty.Replace(p.File))
	}
	if p.Line > 0 {
		properties = append(properties, fmt.Sprintf("line=%d,col=%d,endColumn=%d", p.Line, p.Col, p.EndCol))
	}
	properties = append(properties, "title="+inProperty.Replace(p.Code))
	msg := p.Msg
	if p.Hint != "" {
		msg += "\n" + p.Hint
	}
	return fmt.Sprintf("::%s %s::%s", level, strings.Join(properties, ","), inMessage.Replace(msg))
}
