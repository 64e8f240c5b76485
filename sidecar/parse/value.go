package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// value reads one value.
func (p *reader) value() {
	if !p.more() {
		return
	}
	if p.depth--; p.depth < 0 {
		p.fail(p.i)
		return
	}
	switch c := p.s[p.i]; {
	case c == '"' || c == '\'':
		p.foreign = p.foreign || c == '\''
		p.out = jsontext.AppendString(p.out, p.text())
	case c == '{':
		p.i++
		p.members("", '}')
	case c == '[' || c == '(':
		p.foreign = p.foreign || c == '('
		p.i++
		p.items(closer(c))
	case c == '<':
		p.enum()
	case c == '-' || c >= '0' && c <= '9':
		p.number()
	default:
		p.word()
	}
	p.depth++
}

// closer closes what c opens.
func closer(c byte) byte {
	if c == '(' {
		return ')'
	}
	return c + 2
}

// number reads a number; a word that begins with a digit is none.
func (p *reader) number() {
	end, why := jsontext.Number(p.s, p.i)
	switch {
	case !p.eof && scan.SkipBytes(p.s, p.i, "0123456789+-.eE") == len(p.s):
		p.short = true
	case why != "" || end < len(p.s) && scan.IsWord(p.s[end]):
		p.fail(p.i)
	default:
		p.out = append(p.out, p.s[p.i:end]...)
		p.i = end
	}
}

// items reads what stands in a list up to end.
func (p *reader) items(end byte) {
	p.out = append(p.out, '[')
	for n := 0; p.more() && p.s[p.i] != end; n++ {
		if n > 0 {
			p.out = append(p.out, ',')
		}
		p.value()
		p.comma(end)
	}
	p.close(end, ']')
}

// comma reads what stands behind an item: a comma, which may be the last one, or end.
func (p *reader) comma(end byte) {
	switch {
	case !p.more():
	case p.s[p.i] == ',':
		p.i++
		if p.more() && p.s[p.i] == end {
			p.foreign = true
		}
	case p.s[p.i] != end:
		p.fail(p.i)
	}
}

// close reads end.
func (p *reader) close(end, as byte) {
	if !p.stopped() && p.s[p.i] == end {
		p.i++
		p.out = append(p.out, as)
	}
}

// name reads the name of something: letters, digits, and the signs between its parts. It is empty
// where the text may go on with it.
func (p *reader) name() string {
	from := p.i
	end := printedNameEnd(p.s, from)
	switch {
	case !p.eof && (end == len(p.s) || p.s[end:] == ":"):
		p.short = true
		return ""
	case end == from:
		p.fail(from)
		return ""
	}
	p.i = end
	return p.s[from:end]
}

// nameEnd is where the name at s[i:] ends. A name has no more than 128 bytes.
func printedNameEnd(s string, i int) int {
	const most = 128
	from := i
	for i < len(s) && i-from < most && (scan.IsWord(s[i]) && s[i] < 0x80 ||
		i > from && (s[i] == '.' || strings.HasPrefix(s[i:], "::") || s[i] == ':' && s[i-1] == ':')) {
		i++
	}
	return i
}

// word reads what begins with a name: a word of the language, the variant of an enum, or what is
// made with that name.
func (p *reader) word() {
	from := p.i
	name := p.name()
	if p.stopped() {
		return
	}
	switch name {
	case "null", "true", "false":
		p.out = append(p.out, name...)
		return
	}
	p.foreign = true
	next := byte(0)
	if p.i < len(p.s) {
		next = p.s[p.i]
	}
	switch {
	case name == "None" || name == "nil":
		p.out = append(p.out, "null"...)
	case name == "True":
		p.out = append(p.out, "true"...)
	case name == "False":
		p.out = append(p.out, "false"...)
	case !isUpper(last(name)): // a variable, or a function: it is code
		p.fail(from)
	case next == '(':
		p.i++
		p.made(name)
	case next == '{', strings.HasPrefix(p.s[p.i:], " {"):
		p.i += strings.IndexByte(p.s[p.i:], '{') + 1
		p.members(last(name), '}')
	case next == ' ' && p.i+1 == len(p.s) && !p.eof:
		p.short = true
	case next != 0 && strings.IndexByte(",)]}> \n\r\t", next) < 0:
		p.fail(from)
	default:
		p.out = jsontext.AppendString(p.out, last(name))
	}
}

// made reads what stands in the parentheses behind a name: fields, or values without a name.
func (p *reader) made(name string) {
	if !p.more() {
		return
	}
	switch {
	case name == "Some" || name == "Ok":
		if p.value(); p.more() {
			p.comma(')')
		}
		if p.more() && p.s[p.i] != ')' {
			p.fail(p.i)
		}
		if !p.stopped() {
			p.i++
		}
	case p.s[p.i] == ')' || p.field(p.i):
		p.members(last(name), ')')
	default:
		p.items(')')
	}
}

// last is the last part of a name: ASSISTANT of Role.ASSISTANT.
func last(name string) string { return name[strings.LastIndexAny(name, ".:")+1:] }

func isUpper(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

// field says that a name and = stand at s[i:].
func (p *reader) field(i int) bool {
	end := printedNameEnd(p.s, i)
	if !p.eof && (end == len(p.s) || p.s[end:] == "=") {
		p.short = true
	}
	return end > i && end < len(p.s) && p.s[end] == '=' && !strings.HasPrefix(p.s[end:], "==")
}

// fields reads the fields of one value, with blanks between them: role='assistant' content=”
func (p *reader) fields() {
	p.out = append(p.out, '{')
	for n := 0; !p.stopped(); n++ {
		if p.i = scan.SkipSpace(p.s, p.i); p.i == len(p.s) {
			p.short = p.short || !p.eof
			break
		}
		if n > 0 {
			if !scan.IsSpace(p.s[p.i-1]) {
				p.fail(p.i)
				break
			}
			p.out = append(p.out, ',')
		}
		if p.key(')', true); p.more() {
			p.value()
		}
	}
	p.out = append(p.out, '}')
}

// enum reads <Role.ASSISTANT: 'assistant'>, which is the value.
func (p *reader) enum() {
	p.foreign = true
	p.i++
	if p.name(); !p.more() {
		return
	}
	if p.s[p.i] != ':' {
		p.fail(p.i)
		return
	}
	p.i++
	p.value()
	switch {
	case !p.more():
	case p.s[p.i] != '>':
		p.fail(p.i)
	default:
		p.i++
	}
}
