package demo

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

// line is one line of text, before it is wrapped.
type line struct {
	text string
	ink  terminal.Ink
}

// page writes the demo: two columns in a terminal, otherwise plain lines, none
// of them wrapped, so that they can be searched. A reader who has left gets
// nothing; what came out is told by the exit code all the same.
type page struct {
	out  io.Writer
	look terminal.Look

	left, right string // what the two sides of a pair are
}

// write writes one line, indented by so many cells.
func (p *page) write(indent int, l line) {
	fmt.Fprintf(p.out, "%s%s\n", strings.Repeat(" ", indent), p.look.Paint(l.text, l.ink))
}

func (p *page) space() { fmt.Fprintln(p.out) }

func (p *page) title(text string) {
	p.space()
	p.write(0, line{text, terminal.Bold})
}

// note is something to know that is neither good nor bad.
func (p *page) note(text string) { p.flow(2, line{text, terminal.Faint}) }

// verdict says what came out.
func (p *page) verdict(ok bool, text string) {
	if ok {
		p.flow(2, line{"ok: " + text, terminal.Green})
	} else {
		p.flow(2, line{"WRONG: " + text, terminal.Red})
	}
}

// flow writes text over as many lines as it needs.
func (p *page) flow(indent int, l line) {
	for _, part := range p.wrap([]line{l}, p.look.Width-indent) {
		p.write(indent, part)
	}
}

// diff shows what is added to a file.
func (p *page) diff(file, added string) {
	p.space()
	p.write(2, line{"+++ " + file, terminal.Faint})
	for text := range strings.Lines(added) {
		p.write(2, line{"+" + strings.TrimRight(text, "\n"), terminal.Green})
	}
}

// quote shows the words of the sidecar as they are.
func (p *page) quote(text string) {
	for text := range strings.Lines(text) {
		p.write(2, line{strings.TrimRight(text, "\n"), terminal.Red})
	}
}

// pair shows two answers.
func (p *page) pair(name, about string, left, right []line) {
	p.space()
	if p.look.Width == 0 {
		p.write(0, line{name + ": " + about, terminal.Plain})
		p.stack(p.left, left)
		p.stack(p.right, right)
		return
	}
	fmt.Fprintf(p.out, "%s  %s\n", p.look.Paint(name, terminal.Bold), about)
	p.columns(left, right)
}

// sides says what the two sides of the next pairs are. It heads two columns;
// plain lines carry the first word of it themselves.
func (p *page) sides(left, right string) {
	p.left, p.right = left, right
	if p.look.Width > 0 {
		p.space()
		p.columns([]line{{left, terminal.Faint}}, []line{{right, terminal.Faint}})
	}
}

// columns sets lines side by side.
func (p *page) columns(left, right []line) {
	const indent, gap = 2, " │ "
	width := (p.look.Width - indent - utf8.RuneCountInString(gap)) / 2
	left, right = p.wrap(left, width), p.wrap(right, width)
	for i := range max(len(left), len(right)) {
		l, r := at(left, i), at(right, i)
		room := strings.Repeat(" ", width-utf8.RuneCountInString(l.text))
		row := strings.Repeat(" ", indent) + p.look.Paint(l.text, l.ink) + room + p.look.Paint(gap, terminal.Faint) + p.look.Paint(r.text, r.ink)
		fmt.Fprintln(p.out, strings.TrimRight(row, " "))
	}
}

// at is line i, or an empty one behind the last.
func at(lines []line, i int) line {
	if i < len(lines) {
		return lines[i]
	}
	return line{}
}

// stack writes lines with the first word of side before the first of them.
func (p *page) stack(side string, lines []line) {
	word, _, _ := strings.Cut(side, " ")
	for _, l := range lines {
		row := fmt.Sprintf("  %-8s %s", word, p.look.Paint(l.text, l.ink))
		fmt.Fprintln(p.out, strings.TrimRight(row, " "))
		word = ""
	}
}

// wrap breaks lines at the width, at a space where there is one in the last
// third. Width 0 or less leaves them whole.
func (p *page) wrap(lines []line, width int) []line {
	if p.look.Width == 0 {
		return lines
	}
	var out []line
	for _, l := range lines {
		rest := []rune(l.text)
		for len(rest) > width {
			at := width
			for i := width; i > width*2/3; i-- {
				if rest[i] == ' ' {
					at = i
					break
				}
			}
			out = append(out, line{string(rest[:at]), l.ink})
			rest = rest[at:]
			if rest[0] == ' ' {
				rest = rest[1:]
			}
		}
		out = append(out, line{string(rest), l.ink})
	}
	return out
}
