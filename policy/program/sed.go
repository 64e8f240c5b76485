package program

import "strings"

// sed reads the script: it can run commands and write files.
func sed(c *call) {
	scripts, files := c.codeAndFiles("-e")
	var lines []string
	for _, w := range scripts {
		lines = append(lines, w.Text)
		c.Inline = c.Inline || w.Dynamic
	}
	s := sedScript{call: c, text: strings.Join(lines, "\n")}
	s.scan()
	if w, ok := c.value("-i"); ok && len(files) > 0 && strings.Contains(w.Text, "/") {
		c.touch("write", w, "sed -i")
	}
	c.ReadsIn = c.ReadsIn || len(files) == 0
}

// sedScript walks through a script. What it does not know counts as code.
type sedScript struct {
	*call
	text string // what is left
}

func (s *sedScript) scan() {
	for s.text != "" {
		switch b := s.next(); b {
		case ' ', '\t', '\n', ';', '{', '}', '!', ',', '$', '~', '+', '=', 'd', 'D', 'g', 'G', 'h', 'H', 'l', 'n', 'N', 'p', 'P', 'q', 'Q', 'x', 'z', 'F', 'I', 'M',
			'0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		case '/':
			s.until('/')
		case '\\':
			end := s.next()
			s.until(end)
			s.Inline = s.Inline || end == 0
		case 's', 'y':
			s.substitute()
		case 'e':
			s.Inline = true
			s.code(Word{Text: strings.TrimSpace(s.line())}, "sed e")
		case 'w', 'W':
			s.file("write", "sed w")
		case 'r', 'R':
			s.file("read", "sed r")
		case 'a', 'i', 'c': // their text goes on after a backslash
			for strings.HasSuffix(s.line(), `\`) && s.text != "" {
			}
		case ':', 'b', 't', 'T', 'v':
			s.text = s.text[len(s.text)-len(strings.TrimLeftFunc(s.text, func(r rune) bool { return r != '\n' && r != ';' && r != '}' })):]
		case '#':
			s.line()
		default:
			s.Inline = true
			return
		}
	}
}

// next takes a byte; 0: there is none.
func (s *sedScript) next() byte {
	if s.text == "" {
		return 0
	}
	b := s.text[0]
	s.text = s.text[1:]
	return b
}

// line takes the rest of the line.
func (s *sedScript) line() (line string) {
	line, s.text, _ = strings.Cut(s.text, "\n")
	return line
}

// until takes all before the next one of that byte that has no backslash, and that byte.
func (s *sedScript) until(end byte) (before string) {
	text := s.text
	for s.text != "" {
		switch s.next() {
		case end:
			return text[:len(text)-len(s.text)-1]
		case '\\':
			s.next()
		}
	}
	return text
}

func (s *sedScript) substitute() {
	end := s.next()
	s.until(end)
	with := s.until(end)
	s.Inline = s.Inline || end == 0
	for s.text != "" && strings.IndexByte("gpIiMmew0123456789", s.text[0]) >= 0 {
		switch s.next() {
		case 'e':
			s.Inline = true
			s.code(Word{Text: with, Dynamic: with != ""}, "sed s///e")
		case 'w':
			s.file("write", "sed w")
			return
		}
	}
}

// file is the rest of the line.
func (s *sedScript) file(op, via string) {
	name := strings.TrimSpace(s.line())
	if name != "/dev/stdout" && name != "/dev/stderr" && name != "" {
		s.touch(op, Word{Text: name, Begins: true}, via)
	}
}
