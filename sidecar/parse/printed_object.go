package parse

import (
	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// members reads what stands in an object up to end: "key": value, key: value, key=value.
func (p *reader) members(name string, end byte) {
	p.out = append(p.out, '{')
	n := 0
	if name != "" {
		p.out = jsontext.AppendString(append(p.out, `"`+Type+`":`...), name)
		n++
	}
	for ; p.more() && p.s[p.i] != end; n++ {
		if p.s[p.i] == '.' && end == '}' && name != "" { // Rust leaves fields out
			p.rest()
			continue
		}
		if n > 0 {
			p.out = append(p.out, ',')
		}
		p.key(end, name != "")
		if !p.more() {
			break
		}
		p.value()
		p.comma(end)
	}
	p.close(end, '}')
}

// rest reads the two dots that stand for fields.
func (p *reader) rest() {
	switch {
	case p.i+1 == len(p.s):
		p.short = true
	case p.s[p.i+1] != '.':
		p.fail(p.i)
	default:
		p.i += 2
	}
}

// key reads a key and the sign behind it.
func (p *reader) key(end byte, bare bool) {
	at, key := p.i, ""
	if c := p.s[p.i]; (c == '"' || c == '\'') && !bare {
		p.foreign = p.foreign || c == '\''
		key = p.text()
	} else if key = p.name(); bare && key != "" {
		p.foreign = true
	} else {
		p.fail(at)
	}
	sign := byte(':')
	if end == ')' {
		sign = '='
	}
	switch {
	case !p.more():
	case p.s[p.i] != sign:
		p.fail(p.i)
	default:
		p.i++
		p.out = append(jsontext.AppendString(p.out, key), ':')
	}
}
