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

// Short names of the inks that most lines use.
type Ink = terminal.Ink

const (
	Plain = terminal.Plain
	Bold  = terminal.Bold
	faint = terminal.Faint
	Red   = terminal.Red
	Green = terminal.Green
)

const (
	placeColumn = 72  // column of places, unless a line is longer
	maxShown    = 400 // characters of one text on a line
)

// Row is one line of text, and the place of the rule it is about.
type Row struct {
	Text  string
	place string // file:line or file:line:column, or ""
	ink   Ink
}

// Rows collects lines.
type Rows struct{ List []Row }

// Add adds a line at an indentation level. Control characters are made visible.
func (r *Rows) Add(level int, in Ink, place, format string, args ...any) {
	text := strings.Repeat("  ", level) + terminal.Printable(fmt.Sprintf(format, args...))
	r.List = append(r.List, Row{text, place, in})
}

// Say adds a plain line.
func (r *Rows) Say(format string, args ...any) { r.Add(0, Plain, "", format, args...) }

// Field adds a name and its value, unless the value is empty.
func (r *Rows) Field(name, value, place string) {
	if value != "" {
		r.Add(0, Plain, place, "%-11s %s", name, value)
	}
}

// Printer writes JSON for programs, or lines for people, coloured in a terminal. It keeps the first error.
type Printer struct {
	out     *bufio.Writer
	colours terminal.Colours
	json    bool
	Err     error
}

func (e Env) Printer(asJSON bool) *Printer {
	return &Printer{out: bufio.NewWriter(e.Out), colours: terminal.ColoursOf(e.Stdout(), e.Lookup),
		json: asJSON}
}

// Item writes one of several results: a line of JSON, or its rows.
func (p *Printer) Item(v any, list []Row) { p.write(v, "", list) }

// Document writes the only result, and flushes.
func (p *Printer) Document(v any, list []Row) error {
	p.write(v, "  ", list)
	return p.Flush()
}

func (p *Printer) write(v any, indent string, list []Row) {
	if !p.json {
		p.Rows(list)
		return
	}
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	p.Err = cmp.Or(p.Err, enc.Encode(v))
}

// Flush flushes, and returns the first error.
func (p *Printer) Flush() error { return cmp.Or(p.Err, p.out.Flush()) }

// Rows writes lines, with their places in one column after the longest line that is not too long.
func (p *Printer) Rows(list []Row) {
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

// difference compares two readings as diff -u does. A rule whose line number alone has changed makes no
// difference.
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
		list = list[2:] // without the header of the unified diff
	}
	return list
}

// Clipped returns printable text of at most maxShown characters.
func Clipped(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return s
}
