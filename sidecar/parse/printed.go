package parse

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Type is the key under which an object keeps the name of what was printed.
const Type = "@type"

// Notation is how a value is printed.
type Notation uint8

// The notations.
const (
	PrintedJSON  Notation = iota // one value, or several in lines of their own
	Language                     // as a program prints it
	PrintedLines                 // lines of a header, and what stands below them
	Tags                         // elements with attributes
)

// Value is what was read.
type Value struct {
	Doc      string // JSON; where several values were printed, a list of them
	Many     bool   // several were
	Notation Notation
	At       int // where it ends; or, where it is none, the byte that shows it
}

// Words are those by which values are known.
type PrintedWords struct {
	Keys  []string // one of them is the first key of a value
	Heads []string // what a line of a header may begin with, in small letters with _ between words
	Tags  []string // elements
}

// Read reads text, which begins as a value does and holds nothing else. It is No where it does, Wait where it
// may go on, and Yes, with eof only, where it is whole. Values may nest so deep.
func (w *PrintedWords) Read(text string, depth int, eof bool) (v Value, is scan.Verdict) {
	p := reader{s: text, eof: eof, depth: depth}
	p.i = scan.SkipSpace(text, 0)
	v.Notation = PrintedJSON
	switch begin := text[p.i:]; {
	case begin == "":
		return v, scan.WaitUnless(eof)
	case strings.HasPrefix(begin, "<"):
		v.Notation = Tags
		p.tags(w)
	case strings.HasPrefix(begin, "data:"):
		p.events()
	case w.beginsHead(begin, scan.No) == scan.Yes:
		v.Notation = PrintedLines
		p.header(w)
	default:
		if p.values(); p.foreign {
			v.Notation = Language
		}
	}
	v.At = p.i
	switch {
	case p.failed:
		return v, scan.No
	case p.short, !eof:
		return v, scan.WaitUnless(eof)
	}
	v.Many, v.Doc = p.many > 1, "["+string(p.out)+"]"
	if !v.Many {
		v.Doc = string(p.out)
	}
	return v, scan.Yes
}

// reader reads a text from front to back, once, and writes JSON.
type reader struct {
	s       string
	i       int
	eof     bool
	depth   int // how much deeper it may get
	out     []byte
	many    int  // values so far
	foreign bool // something is no JSON
	failed  bool // it is none of the forms, as s[i:] shows
	short   bool // the text ends too early
}

func (p *reader) stopped() bool { return p.failed || p.short }

// fail stops at offset i.
func (p *reader) fail(i int) {
	if !p.stopped() {
		p.failed, p.i = true, i
	}
}

// more skips blanks, and says that a byte follows.
func (p *reader) more() bool {
	if p.stopped() {
		return false
	}
	if p.i = scan.SkipSpace(p.s, p.i); p.i == len(p.s) {
		p.short = true
	}
	return !p.short
}

// next begins one more value of the text.
func (p *reader) next() {
	if p.many++; p.many > 1 {
		p.out = append(p.out, ',')
	}
}

// values reads all values of the text: one, or one in each line; or the fields of one.
func (p *reader) values() {
	if p.field(p.i) {
		p.foreign = true
		p.next()
		p.fields()
		return
	}
	for first := true; !p.stopped(); first = false {
		before := p.i
		if p.i = scan.SkipSpace(p.s, p.i); p.i == len(p.s) {
			p.short = first
			return
		}
		if !first && !strings.Contains(p.s[before:p.i], "\n") {
			p.fail(p.i)
			return
		}
		p.next()
		p.whole()
	}
}

// whole reads a value; where it is JSON it stays as it is written.
func (p *reader) whole() {
	at, mark, before := p.i, len(p.out), p.foreign
	p.foreign = false
	if p.value(); !p.stopped() {
		if raw := p.s[at:p.i]; !p.foreign && gjson.Valid(raw) {
			p.out = append(p.out[:mark], raw...)
		} else {
			p.foreign = true
		}
	}
	p.foreign = p.foreign || before
}

// events reads the events of a stream: lines of data.
func (p *reader) events() {
	for !p.stopped() {
		if p.i = scan.SkipSpace(p.s, p.i); p.i == len(p.s) {
			return
		}
		line, _, whole := strings.Cut(p.s[p.i:], "\n")
		name, data, named := strings.Cut(line, ":")
		switch {
		case !whole && !p.eof && (!named || name != "data"):
			p.short = true
			return
		case named && (name == "event" || name == "id" || name == "retry"), strings.HasPrefix(line, ":"):
			p.i += len(line)
			continue
		case !named || name != "data":
			p.fail(p.i)
			return
		case !whole && !p.eof:
			p.short = true
			return
		}
		if data = strings.TrimSpace(data); data != "[DONE]" {
			s := jsontext.Scanner{Doc: []byte(data), Depth: p.depth}
			if s.Skip(); s.End() != nil {
				p.fail(p.i)
				return
			}
			p.next()
			p.out = append(p.out, data...)
		}
		p.i += len(line)
	}
}
