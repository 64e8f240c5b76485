package parse

import (
	"html"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Content is the key of what stands below the lines of a header, or in an element.
const PrintedContent = "content"

// maxKey is how long the key of a header's line may be.
const maxKey = 32

// headKey is the key that a line begins with, in small letters with _ between its words, and what
// stands behind it.
func headKey(line string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(line, ":")
	ok = ok && len(key) <= maxKey
	return headWord(key), strings.Trim(value, "* \t\r"), ok
}

// around may stand around a key: marks of a text that is shown.
const around = "*_ \t"

func headWord(s string) string {
	word := []byte(strings.Trim(s, around))
	for i, b := range word {
		word[i] = headByte(b)
	}
	return string(word)
}

// headByte is a byte of a key in its usual spelling.
func headByte(b byte) byte {
	if b == ' ' || b == '-' {
		return '_'
	}
	return scan.Lower(b)
}

// header reads lines of a header up to a line that is empty, and the value below. Where one is the
// arguments, there is nothing below.
func (p *reader) header(w *PrintedWords) {
	p.next()
	p.out = append(p.out, '{')
	for n := 0; !p.stopped(); n++ {
		line, _, whole := strings.Cut(p.s[p.i:], "\n")
		if scan.Blank(line) || strings.HasPrefix(strings.TrimSpace(line), "{") {
			break
		}
		key, value, ok := headKey(line)
		switch {
		case ok && !scan.Among(key, w.Heads), !ok && (whole || p.eof || len(line) > maxKey):
			p.fail(p.i)
			return
		case strings.HasPrefix(value, "{"): // it may go on in further lines
			p.i += strings.IndexByte(line, '{')
			p.body(key, n)
			return
		case !whole && !p.eof:
			p.short = true
			return
		}
		p.member(key, value, n)
		if p.i += len(line); whole {
			p.i++
		}
	}
	p.body(PrintedContent, 1)
}

// member adds a text to the object that is written.
func (p *reader) member(key, value string, n int) {
	if n > 0 {
		p.out = append(p.out, ',')
	}
	p.out = jsontext.AppendString(p.out, key)
	p.out = jsontext.AppendString(append(p.out, ':'), value)
}

// body reads the object that ends a header.
func (p *reader) body(key string, n int) {
	if !p.more() {
		return
	}
	if p.s[p.i] != '{' {
		p.fail(p.i)
		return
	}
	if n > 0 {
		p.out = append(p.out, ',')
	}
	p.out = append(jsontext.AppendString(p.out, key), ':')
	p.whole()
	p.out = append(p.out, '}')
	if p.stopped() {
		return
	}
	if p.i = scan.SkipSpace(p.s, p.i); p.i < len(p.s) {
		p.fail(p.i)
	}
}

// tags reads elements: their attributes, and the text in them.
func (p *reader) tags(w *PrintedWords) {
	for !p.stopped() {
		if p.i = scan.SkipSpace(p.s, p.i); p.i == len(p.s) {
			return
		}
		p.next()
		p.element(w)
	}
}

func (p *reader) element(w *PrintedWords) {
	at := p.i
	if p.s[at] != '<' {
		p.fail(at)
		return
	}
	p.i++
	name := p.name()
	if p.stopped() {
		return
	}
	if !scan.Among(name, w.Tags) || p.i < len(p.s) && !scan.IsSpace(p.s[p.i]) {
		p.fail(at)
		return
	}
	p.out = append(p.out, '{')
	n := p.attributes()
	closing := "</" + name + ">"
	end := strings.Index(p.s[min(p.i, len(p.s)):], closing)
	switch {
	case p.stopped():
		return
	case end < 0:
		p.short = true
		return
	}
	inner := strings.TrimSpace(p.s[p.i : p.i+end])
	if summary, rest, ok := strings.Cut(inner, "</summary>"); ok && strings.HasPrefix(summary, "<summary>") {
		inner = strings.TrimSpace(rest)
	}
	if p.i += end + len(closing); inner != "" {
		p.member(PrintedContent, html.UnescapeString(inner), n)
	}
	p.out = append(p.out, '}')
}

// attributes reads name="value" up to the end of the tag, and says how many there are.
func (p *reader) attributes() (n int) {
	for ; p.more(); n++ {
		if p.s[p.i] == '>' {
			p.i++
			return n
		}
		at, from := p.i, p.i
		for p.i < len(p.s) && (scan.IsName(p.s[p.i])) {
			p.i++
		}
		key := p.s[from:p.i]
		if !strings.HasPrefix(p.s[p.i:], `="`) {
			if p.i+2 > len(p.s) {
				p.short = true
			}
			p.fail(at)
			return n
		}
		value, _, whole := strings.Cut(p.s[p.i+2:], `"`)
		if !whole {
			p.short = true
			return n
		}
		p.member(strings.ReplaceAll(key, "-", "_"), html.UnescapeString(value), n)
		p.i += len(value) + 3
	}
	return n
}
