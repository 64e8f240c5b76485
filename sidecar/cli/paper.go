package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

// The inks by short names: most lines have one.
type Ink = terminal.Ink

const (
	Plain = terminal.Plain
	Bold  = terminal.Bold
	faint = terminal.Faint
	Red   = terminal.Red
	Green = terminal.Green
)

const (
	placeColumn = 72  // where places of rules stand, unless a line is longer
	maxShown    = 400 // characters of one text on a line
)

// Row is one line for people, and the place of the rule that it comes from.
type Row struct {
	Text  string
	place string // file:line or file:line:column, or ""
	ink   Ink
}

// Rows collects lines.
type Rows struct{ List []Row }

// Add adds a line, indented by so many levels, that does a terminal no harm.
func (r *Rows) Add(level int, in Ink, place, format string, args ...any) {
	text := strings.Repeat("  ", level) + terminal.Printable(fmt.Sprintf(format, args...))
	r.List = append(r.List, Row{text, place, in})
}

// Say adds a line.
func (r *Rows) Say(format string, args ...any) { r.Add(0, Plain, "", format, args...) }

// Field adds a value with its name before it, if there is one.
func (r *Rows) Field(name, value, place string) {
	if value != "" {
		r.Add(0, Plain, place, "%-11s %s", name, value)
	}
}

// paper is what a command writes on: JSON for programs, or lines for people, with colours
// in a terminal. The first error is kept until the end.
type paper struct {
	out     *bufio.Writer
	colours terminal.Colours
	json    bool
	Err     error
}

func (e Env) Paper(asJSON bool) *paper {
	return &paper{out: bufio.NewWriter(e.Out), colours: terminal.ColoursOf(e.Stdout(), e.Lookup),
		json: asJSON}
}

// Item writes one thing of many: a line of JSON, or its rows.
func (p *paper) Item(v any, list []Row) { p.write(v, "", list) }

// Whole writes the only thing there is.
func (p *paper) Whole(v any, list []Row) error {
	p.write(v, "  ", list)
	return p.Done()
}

func (p *paper) write(v any, indent string, list []Row) {
	if !p.json {
		p.Rows(list)
		return
	}
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	p.Err = cmp.Or(p.Err, enc.Encode(v))
}

// Done brings everything out.
func (p *paper) Done() error { return cmp.Or(p.Err, p.out.Flush()) }

// Rows writes lines with their places in one column: behind the longest line, as far as
// that is not too far.
func (p *paper) Rows(list []Row) {
	column := 0
	for _, r := range list {
		if n := utf8.RuneCountInString(r.Text); r.place != "" && n <= placeColumn {
			column = max(column, n)
		}
	}
	for _, r := range list {
		line := p.colours.Paint(r.Text, r.ink)
		if r.place != "" {
			line += strings.Repeat(" ",
				max(0, column-utf8.RuneCountInString(r.Text))+2) + p.colours.Paint(r.place, faint)
		}
		fmt.Fprintln(p.out, line)
	}
}

// difference is two readings as diff -u shows them. A rule that only stands on another line
// makes none.
func difference(nameA, nameB string, a, b []Row) []Row {
	text := func(list []Row) []byte {
		var out strings.Builder
		for _, r := range list {
			file, _, _ := strings.Cut(r.place, ":")
			fmt.Fprintln(&out, strings.TrimRight(r.Text+"  "+file, " "))
		}
		return []byte(out.String())
	}
	list := []Row{{Text: "no difference"}}
	for line := range strings.Lines(string(diff.Diff(nameA, text(a), nameB, text(b)))) {
		line = strings.TrimSuffix(line, "\n")
		list = append(list, Row{Text: line, ink: map[byte]Ink{'-': Red, '+': Green, '@': faint}[line[0]]})
	}
	if len(list) > 1 {
		list = list[2:] // what was meant if there were none, and "diff A B"
	}
	return list
}

// Clipped is text that does not fill the screen.
func Clipped(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return s
}
