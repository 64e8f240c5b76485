package demo

import (
	"io"
	"os"
	"strconv"
)

// Look is how a demo shows itself.
type Look struct {
	Width  int // columns of the terminal; 0: plain lines, for a pipe or a file
	Colour bool
}

const (
	usual  = 100 // columns of a terminal that does not tell
	narrow = 60  // below it two columns cannot be read
	wide   = 160 // above it lines get too long for the eye
)

// LookOf is the look that suits an output: columns and colours in a terminal,
// plain lines everywhere else. Of the environment it reads NO_COLOR
// (no-color.org), TERM and COLUMNS.
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
