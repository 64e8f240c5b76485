package openai

import (
	"math/bits"
	"strconv"
)

// MaxDepth is how deep arrays and objects may lie in one another. Requests with
// the largest tool schemas seen need 15.
const MaxDepth = 256

const tooDeep = "nested too deep"

// scanner walks one JSON document from front to back, strictly as RFC 8259 has
// it, and never twice over a byte. A caller takes the containers it knows apart
// with enter and next, and skips the rest:
//
//	for ok := s.enter('{'); ok && s.next('}'); {
//		switch key, at := s.key(); string(key) { … s.skip() }
//	}
//
// The first error stops it for good: every later call finds the end of input.
type scanner struct {
	doc   []byte
	pos   int
	depth int
	fresh bool         // a container was just entered: no comma before its next entry
	err   *SyntaxError // the first error
}

// SyntaxError is a place where a document is not JSON. Explain words it better.
type SyntaxError struct {
	Offset int // in bytes
	Why    string
}

func (e *SyntaxError) Error() string { return "byte " + strconv.Itoa(e.Offset) + ": " + e.Why }

func (s *scanner) fail(why string) {
	if s.err == nil {
		s.err = &SyntaxError{Offset: s.pos, Why: why}
	}
	s.pos = len(s.doc)
}

// end is the error of the whole walk; only white space may be left.
func (s *scanner) end() error {
	if s.err == nil && (s.peek() != 0 || s.pos < len(s.doc)) {
		s.fail("text after the JSON value")
	}
	if s.err != nil {
		return s.err
	}
	return nil
}

// peek skips white space and is the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.doc) {
		c := s.doc[s.pos]
		if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		s.pos++
	}
	return 0
}

// enter goes into the container that open begins. Any other value it skips, and
// reports false.
func (s *scanner) enter(open byte) bool {
	if s.peek() != open {
		s.skip()
		return false
	}
	if s.depth == MaxDepth {
		s.fail(tooDeep)
		return false
	}
	s.pos++
	s.depth++
	s.fresh = true
	return true
}

// next moves to the next entry of the container that closer ends, or leaves it.
func (s *scanner) next(closer byte) bool {
	c, fresh := s.peek(), s.fresh
	s.fresh = false
	switch {
	case c == closer:
		s.pos++
		s.depth--
		return false
	case fresh:
		return s.pos < len(s.doc) || s.cut()
	case c == ',':
		s.pos++
		return true
	}
	s.fail("no comma or end after a value")
	return false
}

// cut fails because the input ends too early.
func (s *scanner) cut() bool {
	s.fail("the JSON ends too early")
	return false
}

// key reads a key and its colon: the decoded key, and its span with quotes.
func (s *scanner) key() ([]byte, Span) {
	if s.peek() != '"' {
		s.fail("no key")
		return nil, Span{}
	}
	at, plain := s.str()
	if s.peek() != ':' {
		s.fail("no colon after a key")
		return nil, Span{}
	}
	s.pos++
	raw := s.doc[at.From+1 : at.To-1]
	if !plain {
		raw = []byte(unquote(raw))
	}
	return raw, at
}

// skip passes over one value.
func (s *scanner) skip() Span {
	c := s.peek()
	from := s.pos
	switch c {
	case '"':
		s.str()
	case '{':
		for ok := s.enter('{'); ok && s.next('}'); {
			s.key()
			s.skip()
		}
	case '[':
		for ok := s.enter('['); ok && s.next(']'); {
			s.skip()
		}
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
	return Span{from, s.pos}
}

func (s *scanner) literal(word string) {
	if end := s.pos + len(word); end <= len(s.doc) && string(s.doc[s.pos:end]) == word {
		s.pos = end
		return
	}
	s.fail("no value")
}

func (s *scanner) number() {
	i := s.pos
	if i < len(s.doc) && s.doc[i] == '-' {
		i++
	}
	end := digits(s.doc, i)
	if end == i || s.doc[i] == '0' && end > i+1 {
		s.fail("no value")
		return
	}
	i = end
	if i < len(s.doc) && s.doc[i] == '.' {
		if end = digits(s.doc, i+1); end == i+1 {
			s.fail("no digit after the point")
			return
		}
		i = end
	}
	if i < len(s.doc) && s.doc[i]|0x20 == 'e' {
		i++
		if i < len(s.doc) && (s.doc[i] == '+' || s.doc[i] == '-') {
			i++
		}
		if end = digits(s.doc, i); end == i {
			s.fail("no digit in the exponent")
			return
		}
		i = end
	}
	s.pos = i
}

// digits is where the digits that begin at i end.
func digits(doc []byte, i int) int {
	for i < len(doc) && doc[i]-'0' <= 9 {
		i++
	}
	return i
}

// str reads the string that begins here; plain: it has no escapes.
func (s *scanner) str() (at Span, plain bool) {
	from, plain := s.pos, true
	for i := s.pos + 1; ; {
		i = run(s.doc, i)
		if i >= len(s.doc) {
			s.cut()
			return Span{from, from + 2}, plain
		}
		switch s.doc[i] {
		case '"':
			s.pos = i + 1
			return Span{from, s.pos}, plain
		case '\\':
			plain = false
			n := escape(s.doc[i:])
			if n == 0 {
				s.pos = i
				s.fail("no such escape in a string")
				return Span{from, from + 2}, plain
			}
			i += n
		default:
			s.pos = i
			s.fail("control character in a string")
			return Span{from, from + 2}, plain
		}
	}
}

// escape is the length of the escape that raw begins with, 0 if it is none.
func escape(raw []byte) int {
	switch {
	case len(raw) > 1 && plainEscape[raw[1]] != 0:
		return 2
	case hex4(raw) >= 0:
		return 6
	}
	return 0
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// run is where text that needs no look ends: the first byte at or after i that is
// a quote, a backslash or a control character. It looks at eight bytes at a
// time: with bit 1 flipped, the quote is the only printable byte below 0x21, so
// one comparison finds it and the control characters. Borrows only spoil bytes
// behind the first hit.
func run[T []byte | string](doc T, i int) int {
	for ; i+8 <= len(doc); i += 8 {
		w := load(doc, i)
		low, slash := w^ones*2, w^ones*'\\'
		if hit := ((low-ones*0x21)&^low | (slash-ones)&^slash) & highs; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(doc); i++ {
		if c := doc[i]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// load is the eight bytes from i on; the compiler makes one read of it.
func load[T []byte | string](b T, i int) uint64 {
	_ = b[i+7]
	return uint64(b[i]) | uint64(b[i+1])<<8 | uint64(b[i+2])<<16 | uint64(b[i+3])<<24 |
		uint64(b[i+4])<<32 | uint64(b[i+5])<<40 | uint64(b[i+6])<<48 | uint64(b[i+7])<<56
}
