package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

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
	twoColumns  = 120 // width of a terminal from which two readings fit side by side
	maxShown    = 400 // characters of one text on a line
)

// paper is what trees are written on: with colours and columns in a terminal,
// plain lines in a pipe.
type paper struct {
	out  io.Writer
	look terminal.Look
}

// rows writes lines with their places in one column.
func (p paper) rows(list []row) {
	for _, r := range list {
		fmt.Fprintln(p.out, p.line(r, columnOf(list)))
	}
}

// columnOf is where the places of these lines stand: behind the longest line, as
// far as that is not too far.
func columnOf(list []row) int {
	column := 0
	for _, r := range list {
		if n := utf8.RuneCountInString(r.text); r.place != "" && n <= placeColumn {
			column = max(column, n)
		}
	}
	return column
}

func (p paper) line(r row, column int) string {
	if r.place == "" {
		return p.look.Paint(r.text, r.ink)
	}
	room := strings.Repeat(" ", max(0, column-utf8.RuneCountInString(r.text))+2)
	return p.look.Paint(r.text, r.ink) + room + p.look.Paint(r.place, faint)
}

// pair writes two readings: side by side where there is room, else one below the
// other. Lines that differ are marked; the place of a rule makes no difference.
func (p paper) pair(nameA, nameB string, a, b []row) {
	both := align(a, b)
	if p.look.Width >= twoColumns {
		p.columns(nameA, nameB, both)
		return
	}
	p.block("A: "+nameA, both, func(s sides) *row { return s.a })
	fmt.Fprintln(p.out)
	p.block("B: "+nameB, both, func(s sides) *row { return s.b })
}

// block writes one of two readings, with * before lines that the other has not.
func (p paper) block(name string, both []sides, side func(sides) *row) {
	fmt.Fprintln(p.out, p.look.Paint(name, bold))
	var list []row
	for _, s := range both {
		if r := side(s); r != nil {
			list = append(list, *r)
		}
	}
	column := columnOf(list)
	for _, s := range both {
		if r := side(s); r != nil {
			mark := "  "
			if s.differ() {
				mark = p.look.Paint("* ", bold)
			}
			fmt.Fprintln(p.out, strings.TrimRight(mark+p.line(*r, column), " "))
		}
	}
}

// columns writes two readings side by side, marked as sdiff does: | for lines that
// differ, < and > for those of one side only.
func (p paper) columns(nameA, nameB string, both []sides) {
	width := (p.look.Width - 3) / 2
	p.beside(row{text: "A: " + nameA, ink: bold}, row{text: "B: " + nameB, ink: bold}, " ", width)
	for _, s := range both {
		var a, b row
		mark := " "
		switch {
		case s.b == nil:
			a, mark = *s.a, "<"
		case s.a == nil:
			b, mark = *s.b, ">"
		default:
			a, b = *s.a, *s.b
			if s.differ() {
				mark = "|"
			}
		}
		p.beside(a, b, mark, width)
	}
}

// beside writes two lines next to each other, wrapped where they are longer than
// their column.
func (p paper) beside(a, b row, mark string, width int) {
	left, right := wrapped(a, width), wrapped(b, width)
	for i := range max(len(left), len(right)) {
		var l, r string
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		room := strings.Repeat(" ", width-utf8.RuneCountInString(l))
		text := p.look.Paint(l, a.ink) + room + " " + p.look.Paint(mark, bold) + " " + p.look.Paint(r, b.ink)
		fmt.Fprintln(p.out, strings.TrimRight(text, " "))
	}
}

// wrapped is a line with its place at the end, cut to pieces that fit.
func wrapped(r row, width int) []string {
	text := r.text
	if r.place != "" {
		text += "  " + r.place
	}
	deeper := strings.Repeat(" ", min(len(text)-len(strings.TrimLeft(text, " "))+2, width/2))
	var out []string
	rest, indent := []rune(text), ""
	for len(indent)+len(rest) > width {
		room := width - len(indent)
		at := room
		for i := room; i > room*2/3; i-- {
			if rest[i] == ' ' {
				at = i
				break
			}
		}
		out = append(out, indent+strings.TrimRight(string(rest[:at]), " "))
		for rest = rest[at:]; len(rest) > 0 && rest[0] == ' '; {
			rest = rest[1:]
		}
		indent = deeper
	}
	return append(out, indent+string(rest))
}

// clipped is text that does not fill the screen.
func clipped(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return s
}
