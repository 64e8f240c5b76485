package program

import (
	"regexp"
	"strings"
)

// awkArguments: a program that changes its own arguments chooses what is read.
var awkArguments = regexp.MustCompile(`\bARG[VC]\s*(\[[^]]*\]\s*)?(=[^=]|[-+*/%^]=|\+\+|--)|\(\s*ARGV\b|(\+\+|--)ARGC`)

var awkSystem = regexp.MustCompile(`\bsystem\s*(\\\s*)?\(`)

// awk reads the program: it can run commands, read and write files.
func awk(c *call) {
	files := c.Operands
	for i := range c.found {
		if f := &c.found[i]; f.name == "-e" && f.given {
			newAwk(c, f.value)
		}
	}
	if !c.replaced && len(files) > 0 {
		newAwk(c, files[0])
		files = files[1:]
	}
	if c.has("-f", "-E") {
		c.tag("opaque-exec")
	}
	named := false
	for _, w := range files {
		if name, _, ok := strings.Cut(w.Text, "="); ok && name != "" && !strings.ContainsAny(name, "/.") {
			continue // a variable
		}
		named = true
		c.touch("read", w, "argument")
	}
	c.ReadsIn = c.ReadsIn || !named
}

// awkProgram walks through a program, token by token.
type awkProgram struct {
	*call
	text     string
	i        int
	last     byte   // of the token before: 'x' an operand, 's' a string, else an operator
	literal  string // the last string
	printing bool   // in a print statement
	depth    int    // of parentheses
	pipe     bool   // a | whose command follows
	redirect string // read or write: < or > whose file follows
	doubt    bool   // a slash that may be a division or a pattern
}

func newAwk(c *call, w Word) {
	p := awkProgram{call: c, text: w.Text}
	if w.Dynamic || strings.Contains(w.Text, "@") || awkArguments.MatchString(w.Text) || awkSystem.MatchString(w.Text) {
		c.Inline = true
	}
	if strings.Contains(w.Text, "ENVIRON") {
		c.tag("dump-env")
	}
	for p.i < len(p.text) {
		p.token()
	}
	p.fileDone("", false)
	if p.doubt && strings.ContainsAny(p.text, "|>") {
		c.Inline = true
	}
}

func (p *awkProgram) token() {
	b := p.text[p.i]
	next := byte(0)
	if p.i+1 < len(p.text) {
		next = p.text[p.i+1]
	}
	p.i++
	switch {
	case b == ' ' || b == '\t' || b == '\\':
	case b == '"':
		p.str()
	case b == '#':
		for p.i < len(p.text) && p.text[p.i] != '\n' {
			p.i++
		}
	case isName(b):
		p.name()
	case b == '/':
		p.slash()
	case b == '|' && next == '|', b == '>' && next == '=', b == '<' && next == '=', b == '=' && next == '=':
		p.i++
		p.last = b
	case b == '|':
		p.Inline = true
		if p.last == 's' {
			p.code(Word{Text: p.literal}, "awk |")
		}
		p.pipe, p.last = true, b
	case b == '>' && p.printing && p.depth == 0:
		if next == '>' {
			p.i++
		}
		p.redirect, p.last = "write", b
	default:
		p.operator(b, next)
	}
}

func (p *awkProgram) operator(b, next byte) {
	p.fileDone("", false)
	switch b {
	case '(':
		p.depth++
	case ')':
		p.depth--
	case ';', '\n', '}', '{':
		p.printing, p.depth = false, 0
	case '+', '-':
		p.doubt = p.doubt || b == next && strings.HasPrefix(strings.TrimLeft(p.text[p.i+1:], " \t"), "/")
	}
	p.last = b
	if b == ']' || b == '$' {
		p.last = 'x'
	}
}

func (p *awkProgram) str() {
	from := p.i
	for p.i < len(p.text) && p.text[p.i] != '"' {
		if p.text[p.i] == '\\' {
			p.i++
		}
		p.i++
	}
	p.literal = p.text[from:min(p.i, len(p.text))]
	p.i++
	if awkSystem.MatchString(p.text[:from]) && strings.HasSuffix(strings.TrimRight(p.text[:from-1], " \t"), "(") {
		p.code(Word{Text: unescape(p.literal)}, "awk system")
	}
	if p.pipe {
		p.code(Word{Text: unescape(p.literal)}, "awk |")
		p.pipe = false
	}
	if p.redirect != "" {
		end := strings.TrimLeft(p.text[min(p.i, len(p.text)):], " \t")
		p.fileDone(unescape(p.literal), end == "" || strings.IndexByte(";}\n)", end[0]) >= 0)
	}
	p.last = 's'
}

// fileDone adds the file of a redirection, if one is awaited.
func (p *awkProgram) fileDone(name string, whole bool) {
	if p.redirect == "" {
		return
	}
	if name != "/dev/stdout" && name != "/dev/stderr" {
		p.touch(p.redirect, Word{Text: name, Dynamic: !whole}, "awk redirection")
	}
	p.redirect = ""
}

func (p *awkProgram) name() {
	from := p.i - 1
	for p.i < len(p.text) && isName(p.text[p.i]) {
		p.i++
	}
	p.fileDone("", false)
	p.last = 'x'
	switch p.text[from:p.i] {
	case "print", "printf":
		p.printing, p.depth, p.last = true, 0, 'p'
	case "getline":
		end := strings.TrimLeft(p.text[p.i:], " \tabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789$")
		if strings.HasPrefix(end, "<") {
			p.i = len(p.text) - len(end) + 1
			p.redirect = "read"
		}
	case "in", "return", "else", "do", "case", "delete":
		p.last = 'p'
	}
}

// slash is a division after an operand, and otherwise starts a pattern.
func (p *awkProgram) slash() {
	switch p.last {
	case 'x', 's':
		p.last = '/'
		return
	case ')':
		p.doubt, p.last = true, '/'
		return
	}
	for p.i < len(p.text) && p.text[p.i] != '/' && p.text[p.i] != '\n' {
		if p.text[p.i] == '\\' {
			p.i++
		}
		p.i++
	}
	p.i++
	p.last = 'x'
}

func isName(b byte) bool {
	return b == '_' || b == '.' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// unescape takes the backslashes off quotes.
func unescape(s string) string {
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\/`, `/`).Replace(s)
}
