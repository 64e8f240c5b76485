package notation

import (
	"bytes"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// prefixed reads a text with what a language writes in front of its quotes: r"…", @"…", u"…". It is
// false where none stands here, or the text cannot be told.
func (p *literal) prefixed() (json string, ok bool) {
	n := strings.IndexAny(p.s[p.i:min(len(p.s), p.i+len("r##")+1)], "\"'")
	if n <= 0 {
		return "", false
	}
	prefix, quote := p.s[p.i:p.i+n], p.s[p.i+n:p.i+n+1]
	body := p.s[p.i+n+1:]
	closer, hashes := quote, strings.Trim(prefix, "r")
	raw := true
	switch strings.ToLower(prefix) {
	case "r", "rb", "br", "@":
	case "r#", "r##":
		closer += hashes
	case "u", "u8", "b", "l", "f", "$":
		raw = false
	default:
		return "", false
	}
	if !raw {
		begin := p.i + n
		p.i = begin
		json, ok = p.text()
		formats := prefix == "f" || prefix == "F" || prefix == "$"
		if ok = ok && (!formats || !strings.ContainsAny(p.s[begin:p.i], "{}")); !ok {
			p.i = begin - n
		}
		return json, ok
	}
	end := p.rawEnd(body, closer, prefix == "@")
	// three of them are another quote
	if end < 0 || prefix != "@" && hashes == "" && strings.Contains(body[:end], "\n") || hashes == "" &&
		strings.HasPrefix(body[end:], closer+closer) {
		p.i = len(p.s)
		return "", false
	}
	p.i += n + 1 + end + len(closer)
	if body = body[:end]; prefix == "@" {
		body = strings.ReplaceAll(body, `""`, `"`)
	}
	return jsontext.Quote(body), true
}

// rawEnd is where a text ends in which a backslash is one, or -1: behind one it is unclear whether a quote
// ends it. Between the quotes of C#, two of them are one.
func (p *literal) rawEnd(body, closer string, doubled bool) int {
	for from := 0; ; {
		n := strings.Index(body[from:], closer)
		if n < 0 {
			return -1
		}
		end := from + n
		switch {
		case doubled && strings.HasPrefix(body[end+len(closer):], closer):
			from = end + 2*len(closer)
		case end > 0 && body[end-1] == '\\' && len(closer) == 1:
			return -1
		default:
			return end
		}
	}
}

// joined reads the texts that follow one, and are one with it: behind a +, in parentheses, or in a new
// line behind a text that ends a line. Elsewhere the quotes between them may be those of one text.
func (p *literal) joined(json string, inParens bool) (string, bool) {
	for out := []byte(json); ; {
		from := p.i
		plus := p.take("+")
		p.blank()
		next := p.closer() != ""
		lined := strings.Contains(p.s[from:p.i], "\n") && bytes.HasSuffix(out, []byte(`\n"`))
		if !plus && (!next || !inParens && !lined) {
			p.i = from
			return string(out), true
		}
		more, ok := p.text()
		if p.blank(); !ok || p.at() == ':' || p.at() == '=' {
			return "", false
		}
		out = append(out[:len(out)-1], more[1:]...)
	}
}
