package setup

import (
	"fmt"
	"io"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

// line is one line of text.
type line struct {
	text string
	ink  terminal.Ink
}

// page prints the demo. It ignores write errors: the exit code tells the result.
type page struct {
	out     io.Writer
	colours terminal.Colours
}

// write prints text, each line indented by so many cells.
func (p *page) write(indent int, l line) {
	for text := range strings.Lines(l.text) {
		fmt.Fprintf(p.out, "%s%s\n", strings.Repeat(" ", indent),
			p.colours.Paint(strings.TrimRight(text, "\n"), l.ink))
	}
}

func (p *page) space() { fmt.Fprintln(p.out) }

func (p *page) title(text string) {
	p.space()
	p.write(0, line{text, terminal.Bold})
}

// note prints a neutral remark.
func (p *page) note(text string) { p.write(2, line{text, terminal.Faint}) }

// verdict prints a result.
func (p *page) verdict(ok bool, text string) { p.write(2, judged(ok, text)) }

func judged(ok bool, text string) line {
	if ok {
		return line{"ok: " + text, terminal.Green}
	}
	return line{"WRONG: " + text, terminal.Red}
}

// diff prints lines that are added to a file.
func (p *page) diff(file, added string) {
	p.space()
	p.write(2, line{"+++ " + file, terminal.Faint})
	for text := range strings.Lines(added) {
		p.write(2, line{"+" + text, terminal.Green})
	}
}

// side is an answer with its label.
type side struct {
	word  string
	lines []line
}

// sides prints answers one below the other.
func (p *page) sides(name, about string, all ...side) {
	p.space()
	p.write(0, line{name + ": " + about, terminal.Plain})
	for _, s := range all {
		word := s.word
		for _, l := range s.lines {
			row := fmt.Sprintf("  %-8s %s", word, p.colours.Paint(l.text, l.ink))
			fmt.Fprintln(p.out, strings.TrimRight(row, " "))
			word = ""
		}
	}
}
