package program

import "strings"

// sed reads the script: it can run commands and write files.
func sed(c *call) {
	var text strings.Builder
	dynamic := false
	add := func(w Word) {
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(w.Text)
		dynamic = dynamic || w.Dynamic
	}
	for i := range c.found {
		if f := &c.found[i]; f.name == "-e" && f.given {
			add(f.value)
		}
	}
	files := c.Operands
	if !c.replaced && len(files) > 0 {
		add(files[0])
		files = files[1:]
	}
	if c.has("-f") {
		c.tag("opaque-exec")
	}
	if dynamic {
		c.Inline = true
	}
	s := sedScript{call: c, text: text.String()}
	s.scan()
	if c.has("-i") {
		for _, w := range files {
			c.touch("write", w, "sed -i")
		}
		if w, ok := c.value("-i"); ok && strings.Contains(w.Text, "/") {
			c.touch("write", w, "sed -i")
		}
	}
	c.ReadsIn = c.ReadsIn || len(files) == 0
}

// sedScript walks through a script. What it does not know counts as code.
type sedScript struct {
	*call
	text string
	i    int
}

func (s *sedScript) scan() {
	for s.i < len(s.text) {
		switch b := s.text[s.i]; {
		case strings.IndexByte(" \t\n;{}!,$~+0123456789=dDgGhHlnNpPqQxzFIM", b) >= 0:
			s.i++
		case b == '/':
			s.i++
			s.until('/')
		case b == '\\' && s.i+1 < len(s.text):
			s.i += 2
			s.until(s.text[s.i-1])
		case b == 's' || b == 'y':
			s.substitute()
		case b == 'e':
			s.i++
			s.Inline = true
			s.code(Word{Text: strings.TrimSpace(s.toLineEnd())}, "sed e")
		case b == 'w' || b == 'W':
			s.i++
			s.file("write", "sed w")
		case b == 'r' || b == 'R':
			s.i++
			s.file("read", "sed r")
		case b == 'a' || b == 'i' || b == 'c':
			s.added()
		case b == ':' || b == 'b' || b == 't' || b == 'T' || b == 'v':
			s.i++
			s.label()
		case b == '#':
			s.toLineEnd()
		default:
			s.Inline = true
			return
		}
	}
}

// until goes past the next one of that byte that has no backslash.
func (s *sedScript) until(end byte) {
	for s.i < len(s.text) && s.text[s.i] != end {
		if s.text[s.i] == '\\' {
			s.i++
		}
		s.i++
	}
	s.i++
}

func (s *sedScript) substitute() {
	if s.i+1 >= len(s.text) {
		s.Inline = true
		s.i++
		return
	}
	end := s.text[s.i+1]
	s.i += 2
	s.until(end)
	from := s.i
	s.until(end)
	to := min(s.i-1, len(s.text))
	for s.i < len(s.text) && strings.IndexByte("gpIiMmew0123456789", s.text[s.i]) >= 0 {
		s.i++
		switch s.text[s.i-1] {
		case 'e':
			s.Inline = true
			if from < to {
				s.code(Word{Text: s.text[from:to], Dynamic: true}, "sed s///e")
			}
		case 'w':
			s.file("write", "sed w")
			return
		}
	}
}

// file is the rest of the line.
func (s *sedScript) file(op, via string) {
	name := strings.TrimSpace(s.toLineEnd())
	if name == "/dev/stdout" || name == "/dev/stderr" || name == "" {
		return
	}
	s.touch(op, Word{Text: name, Begins: true}, via)
}

// added is the text of a, i and c: the rest of the line, and the next one after a
// backslash.
func (s *sedScript) added() {
	for {
		line := s.toLineEnd()
		if !strings.HasSuffix(line, `\`) || s.i >= len(s.text) {
			return
		}
	}
}

func (s *sedScript) label() {
	for s.i < len(s.text) && s.text[s.i] != '\n' && s.text[s.i] != ';' && s.text[s.i] != '}' {
		s.i++
	}
}

func (s *sedScript) toLineEnd() string {
	rest := s.text[min(s.i, len(s.text)):]
	line, _, found := strings.Cut(rest, "\n")
	s.i += len(line)
	if found {
		s.i++
	}
	return line
}
