package program

import (
	"regexp"
	"strings"
)

// awk reads the program: it can run commands, read and write files.
func awk(c *call) {
	programs, files := c.codeAndFiles("-e")
	for _, w := range programs {
		newAwk(c, w)
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
	text     string // what is left
	last     byte   // of the token before: 'x' an operand, 's' a string, else an operator
	literal  string // the last string
	system   bool   // it has been named
	printing bool   // in a print statement
	depth    int    // of parentheses
	pipe     bool   // a | whose command follows
	redirect string // read or write: < or > whose file follows
	doubt    bool   // a slash that may be a division or a pattern
}

var (
	awkToken = regexp.MustCompile(`(?s)^(?:[ \t\\]+|"(?:[^"\\]|\\.)*"?|#[^\n]*|[A-Za-z0-9_.]+|\|\||[<>=]=|>>|\+\+|--|.)`)

	// awkArguments: a program that changes its own arguments chooses what is read.
	awkArguments = regexp.MustCompile(`\bARG[VC]\s*(\[[^]]*\]\s*)?(=[^=]|[-+*/%^]=|\+\+|--)|\(\s*ARGV\b|(\+\+|--)ARGC`)
	awkSystem    = regexp.MustCompile(`\bsystem\s*(\\\s*)?\(`)
	awkPattern   = regexp.MustCompile(`(?s)^(?:[^/\n\\]|\\.)*\\?[/\n]?`)
	awkGetline   = regexp.MustCompile(`^[ \t\w$]*<`)
)

func newAwk(c *call, w Word) {
	p := awkProgram{call: c, text: w.Text}
	if w.Dynamic || strings.Contains(w.Text, "@") || awkArguments.MatchString(w.Text) || awkSystem.MatchString(w.Text) {
		c.Inline = true
	}
	if strings.Contains(w.Text, "ENVIRON") {
		c.tag("dump-env")
	}
	for p.text != "" {
		p.token(p.take(awkToken))
	}
	p.file("", false)
	if p.doubt && strings.ContainsAny(w.Text, "|>") {
		c.Inline = true
	}
}

// take takes what fits a pattern.
func (p *awkProgram) take(pattern *regexp.Regexp) string {
	n := len(pattern.FindString(p.text))
	t := p.text[:n]
	p.text = p.text[n:]
	return t
}

func (p *awkProgram) token(t string) {
	switch b := t[0]; {
	case b == ' ', b == '\t', b == '\\', b == '#':
	case b == '"':
		p.str(strings.TrimSuffix(t[1:], `"`))
	case b == '/':
		p.slash()
	case t == "||", t == ">=", t == "<=", t == "==":
		p.last = b
	case b == '|':
		p.Inline = true
		if p.last == 's' {
			p.code(Word{Text: p.literal}, "awk |")
		}
		p.pipe, p.last = true, b
	case b == '>' && p.printing && p.depth == 0:
		p.redirect, p.last = "write", b
	case b == '_' || b == '.' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z':
		p.name(t)
	default:
		p.operator(t)
	}
}

func (p *awkProgram) operator(t string) {
	p.file("", false)
	switch p.last = t[0]; t {
	case "(":
		p.depth++
	case ")":
		p.depth--
	case "]", "$":
		p.last = 'x'
	case ";", "\n", "}", "{":
		p.printing, p.depth = false, 0
	case "++", "--":
		p.doubt = p.doubt || strings.HasPrefix(strings.TrimLeft(p.text, " \t"), "/")
	}
}

func (p *awkProgram) str(text string) {
	literal := awkUnescape.Replace(text)
	if p.system && p.last == '(' {
		p.code(Word{Text: literal}, "awk system")
	}
	if p.pipe {
		p.code(Word{Text: literal}, "awk |")
	}
	end := strings.TrimLeft(p.text, " \t")
	p.file(literal, end == "" || strings.IndexByte(";}\n)", end[0]) >= 0)
	p.literal, p.last, p.pipe = text, 's', false
}

// awkUnescape takes the backslashes off quotes.
var awkUnescape = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\/`, `/`)

// file adds that of a redirection, if one is awaited.
func (p *awkProgram) file(name string, whole bool) {
	if p.redirect != "" && name != "/dev/stdout" && name != "/dev/stderr" {
		p.touch(p.redirect, Word{Text: name, Dynamic: !whole}, "awk redirection")
	}
	p.redirect = ""
}

func (p *awkProgram) name(t string) {
	p.file("", false)
	p.last = 'x'
	switch t {
	case "print", "printf":
		p.printing, p.depth, p.last = true, 0, 'p'
	case "system":
		p.system = true
	case "getline":
		if p.take(awkGetline) != "" {
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
	case ')':
		p.doubt, p.last = true, '/'
	default:
		p.take(awkPattern)
		p.last = 'x'
	}
}
