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
	maxShown    = 400 // characters of one text on a line
)

// paper is what trees are written on: with colours in a terminal, plain lines in a
// pipe.
type paper struct {
	out     io.Writer
	colours terminal.Colours
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
		return p.colours.Paint(r.text, r.ink)
	}
	room := strings.Repeat(" ", max(0, column-utf8.RuneCountInString(r.text))+2)
	return p.colours.Paint(r.text, r.ink) + room + p.colours.Paint(r.place, faint)
}

// difference writes two readings as diff -u does: what only one of them has begins with - or
// +. The place of a rule makes no difference.
func (p paper) difference(nameA, nameB string, a, b []row) {
	fmt.Fprintln(p.out, p.colours.Paint("--- "+nameA, bold))
	fmt.Fprintln(p.out, p.colours.Paint("+++ "+nameB, bold))
	list := differ(a, b)
	column := columnOf(list)
	for _, r := range list {
		fmt.Fprintln(p.out, strings.TrimRight(p.line(r, column), " "))
	}
}

// clipped is text that does not fill the screen.
func clipped(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return s
}
