// Package terminal is what a person sees a command's words on: how wide it is, whether
// it shows colours, and what text does no harm there. It never writes.
package terminal

import (
	"io"
	"os"
	"strconv"
)

// Look is how a command shows itself.
type Look struct {
	Width  int // columns of the terminal; 0: plain lines, for a pipe or a file
	Colour bool
}

const (
	usual  = 100 // columns of a terminal that does not tell
	narrow = 60  // below it two columns cannot be read
	wide   = 160 // above it lines get too long for the eye
)

// LookOf is the look that suits an output: columns and colours in a terminal, plain
// lines everywhere else. Of the environment it reads NO_COLOR (no-color.org), TERM and
// COLUMNS.
func LookOf(out io.Writer, lookup func(name string) (string, bool)) Look {
	f, ok := out.(*os.File)
	if !ok {
		return Look{}
	}
	width, ok := columns(f)
	if !ok {
		return Look{}
	}
	return lookAt(width, lookup)
}

// lookAt is the look for a terminal of this width; 0 is unknown.
func lookAt(width int, lookup func(name string) (string, bool)) Look {
	if text, ok := lookup("COLUMNS"); ok {
		if n, err := strconv.Atoi(text); err == nil {
			width = n
		}
	}
	if width <= 0 {
		width = usual
	}
	noColour, _ := lookup("NO_COLOR")
	kind, _ := lookup("TERM")
	look := Look{Width: min(width, wide), Colour: noColour == "" && kind != "dumb"}
	if width < narrow {
		look.Width = 0
	}
	return look
}

// Ink is how text looks; it is the ANSI code.
type Ink string

// The inks.
const (
	Plain Ink = ""
	Bold  Ink = "1"
	Faint Ink = "2"
	Red   Ink = "31"
	Green Ink = "32"
)

// Paint is text in an ink, where there are colours.
func (l Look) Paint(text string, in Ink) string {
	if !l.Colour || in == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(in) + "m" + text + "\x1b[0m"
}
