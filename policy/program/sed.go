package program

import "strings"

// sed reads a script: it can run commands and write files.
func (c *call) sed(w Word) {
	s := sedScript{call: c, text: w.Text}
	s.Inline = s.Inline || w.Dynamic || !s.commands()
}

// sedScript walks through a script, byte by byte.
type sedScript struct {
	*call
	text string // what is left
}

// commands reads to the end. It is false where something is not understood.
func (s *sedScript) commands() bool {
	for s.text != "" {
		ok := true
		switch b := s.next(); b {
		case ' ', '\t', '\n', ';', '{', '}', '!', ',', '$', '~', '+', '=', 'd', 'D', 'g', 'G', 'h', 'H', 'l', 'n', 'N', 'p', 'P', 'q', 'Q', 'x', 'z', 'F', 'I', 'M',
			'0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		case '/':
			_, ok = s.until('/')
		case '\\':
			_, ok = s.until(s.next())
		case 's', 'y':
			ok = s.substitute()
		case 'e':
			s.code(Word{Text: strings.TrimSpace(s.line())}, "sed e")
			ok = false
		case 'w', 'W':
			s.file("write")
		case 'r', 'R':
			s.file("read")
		case 'a', 'i', 'c': // their text goes on after a backslash
			for strings.HasSuffix(s.line(), `\`) && s.text != "" {
			}
		case ':', 'b', 't', 'T':
			if i := strings.IndexAny(s.text, "\n;}"); i >= 0 {
				s.text = s.text[i:]
			} else {
				s.text = ""
			}
		case '#':
			s.line()
		default:
			return false
		}
		if !ok {
			return false
		}
	}
	return true
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

// until takes all before the next one of that byte that neither a backslash nor a bracket
// hides, and that byte.
func (s *sedScript) until(end byte) (before string, ok bool) {
	if end == 0 || end == '\\' || end == '\n' {
		return "", false
	}
	n, ok := pattern(s.text, end)
	before = s.text[:n]
	s.text = s.text[min(n+1, len(s.text)):]
	return before, ok
}

// pattern is the length of a regular expression, up to a byte that ends it. Programs differ
// in what a backslash in brackets hides, so that is not understood.
func pattern(text string, end byte) (n int, ok bool) {
	for n < len(text) {
		switch b := text[n]; b {
		case end:
			return n, true
		case '\n':
			return n, false
		case '\\':
			n++
		case '[':
			size, ok := bracket(text[n:], end)
			if !ok {
				return n, false
			}
			n += size
		}
		n++
	}
	return len(text), false
}

// bracket is the length of [a-z] or [^]/[:space:]], without its last byte.
func bracket(text string, end byte) (n int, ok bool) {
	n = 1
	if strings.HasPrefix(text[1:], "^") {
		n++
	}
	for first := n; n < len(text); n++ {
		switch b := text[n]; {
		case b == ']' && n > first:
			return n, true
		case b == '\n' || b == '\\' && n+1 < len(text) && (text[n+1] == ']' || text[n+1] == end || text[n+1] == '\n'):
			return n, false
		case b == '[' && n+1 < len(text) && strings.IndexByte(":.=", text[n+1]) >= 0:
			size := strings.Index(text[n+2:], text[n+1:n+2]+"]")
			if size < 0 {
				return n, false
			}
			n += size + 3
		}
	}
	return n, false
}

func (s *sedScript) substitute() (ok bool) {
	end := s.next()
	_, ok = s.until(end)
	text := s.text
	for s.text != "" { // what is put in has no brackets that hide
		b := s.next()
		if b == end {
			break
		}
		if b == '\\' {
			s.next()
		}
	}
	if !ok || len(text) == len(s.text) || text[len(text)-len(s.text)-1] != end {
		return false
	}
	for s.text != "" && strings.IndexByte("gpIiMmew0123456789", s.text[0]) >= 0 {
		switch s.next() {
		case 'e':
			return false
		case 'w':
			s.file("write")
			return true
		}
	}
	return true
}

// file is the rest of the line.
func (s *sedScript) file(op string) {
	name := strings.TrimSpace(s.line())
	if name != "/dev/stdout" && name != "/dev/stderr" && name != "" {
		s.touch(op, Word{Text: name, Begins: true}, "sed "+op[:1])
	}
}
