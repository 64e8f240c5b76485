// Package terminal is what a person sees a command's words on: whether it shows colours,
// and what text does no harm there. It never writes.
package terminal

import (
	"io"
	"os"
)

// Colours says whether text is shown in colours.
type Colours bool

// ColoursOf are colours in a terminal, and none everywhere else. Of the environment it reads
// NO_COLOR (no-color.org) and TERM.
func ColoursOf(out io.Writer, lookup func(name string) (string, bool)) Colours {
	return Colours(Is(out)) && wanted(lookup)
}

// Is reports whether what is written to, or read from, is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// wanted says whether the person at a terminal wants colours.
func wanted(lookup func(name string) (string, bool)) Colours {
	no, _ := lookup("NO_COLOR")
	kind, _ := lookup("TERM")
	return no == "" && kind != "dumb"
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
func (c Colours) Paint(text string, in Ink) string {
	if !c || in == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(in) + "m" + text + "\x1b[0m"
}
