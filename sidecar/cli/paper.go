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
type ink = terminal.Ink

const (
	plain = terminal.Plain
	bold  = terminal.Bold
	faint = terminal.Faint
	red   = terminal.Red
	green = terminal.Green
)

const (
	placeColumn = 72  // where places of rules stand, unless a line is longer
	maxShown    = 400 // characters of one text on a line
)

// row is one line for people, and the place of the rule that it comes from.
type row struct {
	text  string
	place string // file:line or file:line:column, or ""
	ink   ink
}

// rows collects lines.
type rows struct{ list []row }

// add adds a line, indented by so many levels, that does a terminal no harm.
func (r *rows) add(level int, in ink, place, format string, args ...any) {
	text := strings.Repeat("  ", level) + terminal.Printable(fmt.Sprintf(format, args...))
	r.list = append(r.list, row{text, place, in})
}

// say adds a line.
func (r *rows) say(format string, args ...any) { r.add(0, plain, "", format, args...) }

// field adds a value with its name before it, if there is one.
func (r *rows) field(name, value, place string) {
	if value != "" {
		r.add(0, plain, place, "%-11s %s", name, value)
	}
}

// paper is what a command writes on: JSON for programs, or lines for people, with colours
// in a terminal. The first error is kept until the end.
type paper struct {
	out     *bufio.Writer
	colours terminal.Colours
	json    bool
	err     error
}

func (e Env) paper(asJSON bool) *paper {
	return &paper{out: bufio.NewWriter(e.Out), colours: terminal.ColoursOf(e.stdout(), e.lookup),
		json: asJSON}
}

// item writes one thing of many: a line of JSON, or its rows.
func (p *paper) item(v any, list []row) { p.write(v, "", list) }

// whole writes the only thing there is.
func (p *paper) whole(v any, list []row) error {
	p.write(v, "  ", list)
	return p.done()
}

func (p *paper) write(v any, indent string, list []row) {
	if !p.json {
		p.rows(list)
		return
	}
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	p.err = cmp.Or(p.err, enc.Encode(v))
}

// done brings everything out.
func (p *paper) done() error { return cmp.Or(p.err, p.out.Flush()) }

// rows writes lines with their places in one column: behind the longest line, as far as
// that is not too far.
func (p *paper) rows(list []row) {
	column := 0
	for _, r := range list {
		if n := utf8.RuneCountInString(r.text); r.place != "" && n <= placeColumn {
			column = max(column, n)
		}
	}
	for _, r := range list {
		line := p.colours.Paint(r.text, r.ink)
		if r.place != "" {
			line += strings.Repeat(" ",
				max(0, column-utf8.RuneCountInString(r.text))+2) + p.colours.Paint(r.place, faint)
		}
		fmt.Fprintln(p.out, line)
	}
}

// difference is two readings as diff -u shows them. A rule that only stands on another line
// makes none.
func difference(nameA, nameB string, a, b []row) []row {
	text := func(list []row) []byte {
		var out strings.Builder
		for _, r := range list {
			file, _, _ := strings.Cut(r.place, ":")
			fmt.Fprintln(&out, strings.TrimRight(r.text+"  "+file, " "))
		}
		return []byte(out.String())
	}
	list := []row{{text: "no difference"}}
	for line := range strings.Lines(string(diff.Diff(nameA, text(a), nameB, text(b)))) {
		line = strings.TrimSuffix(line, "\n")
		list = append(list, row{text: line, ink: map[byte]ink{'-': red, '+': green, '@': faint}[line[0]]})
	}
	if len(list) > 1 {
		list = list[2:] // what was meant if there were none, and "diff A B"
	}
	return list
}

// clipped is text that does not fill the screen.
func clipped(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return s
}

// count is a number of things in words: 1 problem, 2 problems.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
