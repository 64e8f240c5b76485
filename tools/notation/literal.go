package notation

import (
	"regexp"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Literal reads an object as programs write it: {path = "a"}, ['path' => 'a'], dict(path='a'),
// map[string]any{"path": "a"}, read(path="a"). A call becomes {"name": …, "arguments": …}. Every text
// stands in quotes that end it beyond doubt: one with a quote of its kind, an escape that programs do
// not share or a line end is not read.
func Literal(text string, depth int) []Reading {
	plain := strings.TrimRight(unfenced(Bare(text)), "; \n")
	p := literal{s: plain}
	json, ok := p.root()
	p.blank()
	whole := ok && p.i == len(p.s)
	if !whole { // arguments of a call without the call: path="a", limit=3; one alone may be a remark
		p = literal{s: plain + ")"}
		json, ok = p.entries(')')
		ok = ok && p.members > 1
	}
	if !ok || p.i < len(p.s) || !strings.HasPrefix(json, "{") || json == text || !valid(json, depth) {
		return nil
	}
	return []Reading{{JSON: json, Steps: []Step{{Program, text, json}}, Open: !whole}}
}

// literal is a text that is read from front to back.
type literal struct {
	s       string
	i       int
	depth   int // how deep it is
	members int // of the object that was read last
}

var typed = regexp.MustCompile(`^map\[string\](?:any|string|interface\{\})\s*\{`)

func (p *literal) root() (json string, ok bool) {
	if m := typed.FindString(p.s); m != "" {
		p.i = len(m)
		return p.entries('}')
	}
	p.take("await ")
	if by := wrapperOf(p.name()); by != 0 && p.peek() == '(' {
		return p.wrapped(by)
	}
	p.i = 0
	p.take("await ")
	if p.take("(") { // of a call that lost its name
		return p.entries(')')
	}
	name := p.word()
	if name == "" || p.peek() != '(' && !strings.HasPrefix(p.s[p.i:], "!(") {
		p.i = 0
		return p.value()
	}
	macro := p.take("!")
	p.i++
	json, ok = p.entries(')')
	if inner, one := strings.CutPrefix(json, "[{"); ok && one {
		json = "{" + strings.TrimSuffix(inner, "]")
	}
	switch {
	case !ok, macro, isType(name), json == "[]":
		return json, ok && json != "[]"
	}
	return named(name, json), strings.HasPrefix(json, "{") // arguments without names are none
}

// isType reports whether a name in front of parentheses makes an object, and is no call.
func isType(name string) bool {
	switch strings.ToLower(name) {
	case "dict", "array", "object", "hash", "map":
		return true
	}
	return false
}

func (p *literal) value() (json string, ok bool) {
	switch c := p.peek(); {
	case p.closer() != "":
		return p.text()
	case c == '{' || c == '[':
		p.i++
		return p.entries(c + 2) // } follows { by two in ASCII, as ] follows [
	case c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9':
		begin := p.i
		for p.i < len(p.s) && inNumber(p.s[p.i]) {
			p.i++
		}
		return jsontext.Numeral(p.s[begin:p.i])
	}
	if c := p.peek(); c == '(' {
		p.i++
		json, ok = p.text()
		if ok {
			json, ok = p.joined(json, true)
		}
		return json, ok && p.take(")")
	}
	if json, ok = p.prefixed(); ok {
		return json, true
	}
	switch word := p.name(); word {
	case "true", "True", "TRUE":
		return "true", true
	case "false", "False", "FALSE":
		return "false", true
	case "null", "None", "nil", "NULL", "undefined", "NaN":
		return "null", true
	default:
		if by := wrapperOf(word); by != 0 {
			return p.wrapped(by)
		}
	}
	return "", false
}

// name reads a word, without what says that an object is made: new Map.
func (p *literal) name() string {
	p.take("new ")
	return p.word()
}

// entries reads what stands before closer: members, which make an object, or elements of a list.
func (p *literal) entries(closer byte) (json string, ok bool) {
	if p.depth++; p.depth > jsontext.MaxDepth {
		return "", false
	}
	defer func() { p.depth-- }()
	var b strings.Builder
	members, elements := 0, 0
	for p.peek() != closer {
		if members+elements > 0 {
			b.WriteByte(',')
		}
		key, named := p.key()
		if named {
			members++
			b.WriteString(key + ":")
		} else {
			elements++
		}
		text := p.peekText()
		json, ok := p.value()
		if ok && named && text {
			json, ok = p.joined(json, false)
		}
		if b.WriteString(json); !ok {
			return "", false
		}
		if !p.take(",") && !p.take(";") && p.peek() != closer {
			return "", false
		}
	}
	p.i++
	p.members = members
	switch {
	case members > 0 && elements == 0, members+elements == 0 && closer == '}':
		return "{" + b.String() + "}", true
	case members == 0 && closer != '}':
		return "[" + b.String() + "]", true
	}
	return "", false
}

// key reads a key and the sign behind it; where none stands, nothing is read.
func (p *literal) key() (json string, ok bool) {
	p.blank()
	begin := p.i
	inBrackets := p.take("[") // as Lua has it
	if p.closer() != "" {
		json, ok = p.text()
	} else if word := p.word(); word != "" {
		json, ok = `"`+word+`"`, true
	}
	if ok && inBrackets {
		ok = p.take("]")
	}
	if ok && (p.take("=>") || p.take(":=") || p.take(":") || p.take("=")) {
		return json, true
	}
	p.i = begin
	return "", false
}

func (p *literal) blank() {
	for p.i < len(p.s) && strings.IndexByte(" \n\t\r", p.s[p.i]) >= 0 {
		p.i++
	}
}

// at is the next byte, 0 at the end; peek is the next one that is no blank.
func (p *literal) at() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *literal) peek() byte {
	p.blank()
	return p.at()
}

func (p *literal) take(sign string) bool {
	p.blank()
	found := strings.HasPrefix(p.s[p.i:], sign)
	if found {
		p.i += len(sign)
	}
	return found
}

// word reads a name.
func (p *literal) word() string {
	p.blank()
	begin := p.i
	for p.i < len(p.s) && isWord(p.s[p.i:p.i+1]) {
		p.i++
	}
	return p.s[begin:p.i]
}
