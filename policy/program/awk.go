package program

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
)

// awkReach are words with which a program reaches out. They count wherever they stand.
var awkReach = lazyregexp.New(`system|getline|ARGV|ARGC|@|\|&`)

// awk reads a program: it can run commands, read and write files. What is not surely
// harmless counts as code.
func (c *call) awk(w Word) {
	if strings.Contains(w.Text, "ENVIRON") {
		c.tag("dump-env")
	}
	p := awkProgram{call: c, text: w.Text}
	if w.Dynamic || awkReach().MatchString(w.Text) || !p.tokens() || p.doubt && strings.ContainsAny(w.Text, "|>") {
		c.Inline = true
	}
}

// awkProgram walks through a program, token by token.
type awkProgram struct {
	*call
	text     string // what is left
	last     byte   // of the token before: x an operand, s a string, n a newline, else an operator
	printing bool   // in a print statement
	depth    int    // of parentheses
	doubt    bool   // a slash that may be a division or a pattern
}

// tokens reads to the end. It is false where something is not understood.
func (p *awkProgram) tokens() bool {
	for p.text != "" {
		b := p.text[0]
		p.text = p.text[1:]
		ok := true
		switch {
		case b == ' ' || b == '\t' || b == '\r' || b == '\\':
			ok = b != '\\' || strings.HasPrefix(p.text, "\n")
			p.text = strings.TrimPrefix(p.text, map[bool]string{true: "\n"}[b == '\\'])
		case b == '#':
			_, after, more := strings.Cut(p.text, "\n")
			p.text = map[bool]string{true: "\n"}[more] + after
		case b == '"':
			_, ok = p.quoted('"')
			p.last = 's'
		case b == '/':
			ok = p.slash()
		case isNameByte(b):
			p.name(b)
		case b == '>' && !strings.HasPrefix(p.text, "=") && p.printing && p.depth == 0:
			ok = p.redirect()
		case b == '|':
			ok = strings.HasPrefix(p.text, "|")
			p.text, p.last = strings.TrimPrefix(p.text, "|"), b
		default:
			p.operator(b)
		}
		if !ok {
			return false
		}
	}
	return true
}

func (p *awkProgram) operator(b byte) {
	switch b {
	case '(':
		p.depth++
	case ')':
		p.depth--
	case '\n':
		if p.printing && (p.last == ',' || p.last == '&' || p.last == '|' || p.depth > 0) {
			return // the statement goes on
		}
		p.printing, p.depth = false, 0
	case ';', '{', '}':
		p.printing, p.depth = false, 0
	case '+', '-':
		if p.last == b { // x++ /2/ 1
			p.doubt = p.doubt || strings.HasPrefix(strings.TrimLeft(p.text, " \t"), "/")
		}
	}
	p.last = b
}

func isNameByte(b byte) bool {
	return b == '_' || b == '.' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 128
}

func (p *awkProgram) name(first byte) {
	n := 0
	for n < len(p.text) && isNameByte(p.text[n]) {
		n++
	}
	name := string(first) + p.text[:n]
	p.text, p.last = p.text[n:], 'x'
	switch name {
	case "print", "printf":
		p.printing, p.depth, p.last = true, 0, 'p'
	case "in", "return", "else", "do", "case", "delete":
		p.last = 'p'
	}
}

// slash is a division after an operand, and otherwise starts a pattern.
func (p *awkProgram) slash() (ok bool) {
	switch p.last {
	case 'x', 's', ']', '$':
		p.last = '/'
		return true
	case ')':
		p.doubt, p.last = true, '/'
		return true
	}
	p.last = 'x'
	n, ok := pattern(p.text, '/')
	p.text = p.text[min(n+1, len(p.text)):]
	return ok
}

// quoted takes all before the next one of that byte that has no backslash, and that byte.
func (p *awkProgram) quoted(end byte) (text string, ok bool) {
	for i := 0; i < len(p.text); i++ {
		switch p.text[i] {
		case end:
			text, p.text = p.text[:i], p.text[i+1:]
			return text, true
		case '\\':
			i++
		case '\n':
			return "", false
		}
	}
	return "", false
}

// redirect is a file that is written out, and nothing behind it.
func (p *awkProgram) redirect() (ok bool) {
	p.text = strings.TrimLeft(strings.TrimPrefix(p.text, ">"), " \t")
	if !strings.HasPrefix(p.text, `"`) {
		return false
	}
	p.text = p.text[1:]
	name, ok := p.quoted('"')
	end := strings.TrimLeft(p.text, " \t")
	if !ok || strings.Contains(name, `\`) || end != "" && strings.IndexByte(";}\n", end[0]) < 0 {
		return false
	}
	if p.last = 's'; name != "/dev/stdout" && name != "/dev/stderr" {
		p.touch("write", Word{Text: name, Begins: true}, "awk redirection")
	}
	return true
}
