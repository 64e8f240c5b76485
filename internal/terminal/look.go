// Package terminal makes text for a terminal: with colours, and harmless. It never writes.
package terminal

import (
	"io"
	"os"
)

// Colours reports whether text is shown in colours.
type Colours bool

// ColoursOf returns true for a terminal, subject to NO_COLOR (no-color.org) and TERM.
func ColoursOf(out io.Writer, lookup func(name string) (string, bool)) Colours {
	return Colours(Is(out)) && wanted(lookup)
}

// Is reports whether a file is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// wanted reports whether the environment allows colours.
func wanted(lookup func(name string) (string, bool)) Colours {
	no, _ := lookup("NO_COLOR")
	kind, _ := lookup("TERM")
	return no == "" && kind != "dumb"
}

// Ink is an ANSI code.
type Ink string

// The inks.
const (
	Plain Ink = ""
	Bold  Ink = "1"
	Faint Ink = "2"
	Red   Ink = "31"
	Green Ink = "32"
)

// Paint returns text in an ink, if there are colours.
func (c Colours) Paint(text string, in Ink) string {
	if !c || in == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(in) + "m" + text + "\x1b[0m"
}
