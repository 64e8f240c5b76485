// Package jsontext reads and writes JSON as text, in place: a strict scanner that builds no values, and
// strings in both directions. It repairs nothing and keeps no state.
package jsontext

import (
	"cmp"
	"math/bits"
	"strconv"
)

// Span is the bytes [From, To) of one JSON value, or of one key with its quotes, in its document. The
// zero Span means absent.
type Span struct{ From, To int }

// Present reports whether the value exists; null does.
func (s Span) Present() bool { return s.To > 0 }

// Of returns the bytes of the span.
func (s Span) Of(doc []byte) []byte { return doc[s.From:s.To] }

// MaxDepth is the default bound of nesting. Requests with the largest tool schemas seen need 15.
const MaxDepth = 256

// TooDeep is the Why of a SyntaxError about nesting.
const TooDeep = "nested too deep"

// Scanner walks one JSON document from front to back, strictly as in RFC 8259, and looks at each byte
// once. A caller opens known containers with Enter and Next. Next skips a value of an object that was
// not read:
//
//	for ok := s.Enter('{'); ok && s.Next('}'); {
//		switch key, at := s.Key(); string(key) { … }
//	}
//
// Behind the first error, every call finds the end of input.
type Scanner struct {
	Doc   []byte
	Pos   int          // of the next byte
	Depth int          // maximum nesting; 0: MaxDepth
	Err   *SyntaxError // the first error

	depth int
	fresh bool // a container was just entered: no comma before its next entry
	value int  // start of the last key's value
}

// SyntaxError is a place where a document is not JSON.
type SyntaxError struct {
	Offset int // in bytes
	Why    string
}

func (e *SyntaxError) Error() string { return "byte " + strconv.Itoa(e.Offset) + ": " + e.Why }

func (s *Scanner) fail(why string) {
	if s.Err == nil {
		s.Err = &SyntaxError{Offset: s.Pos, Why: why}
	}
	s.Pos = len(s.Doc)
}

// End returns the error of the whole walk; only white space may be left.
func (s *Scanner) End() error {
	if s.Err == nil && (s.Peek() != 0 || s.Pos < len(s.Doc)) {
		s.fail("text after the JSON value")
	}
	if s.Err != nil {
		return s.Err
	}
	return nil
}

// Valid reports whether a document is one JSON value, as encoding/json does but several times faster.
func Valid(doc []byte) bool {
	s := Scanner{Doc: doc, Depth: 10000}
	s.Skip()
	return s.End() == nil
}

// Peek skips white space and returns the next byte, or 0 at the end.
func (s *Scanner) Peek() byte {
	for s.Pos < len(s.Doc) {
		c := s.Doc[s.Pos]
		if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		s.Pos++
	}
	return 0
}

// Enter enters a container that begins with open. It skips any other value and returns false.
func (s *Scanner) Enter(open byte) bool {
	if s.Peek() != open {
		s.Skip()
		return false
	}
	if limit := cmp.Or(s.Depth, MaxDepth); s.depth >= limit {
		s.fail(TooDeep)
		return false
	}
	s.Pos++
	s.depth++
	s.fresh = true
	return true
}

// Next moves to the next entry of the container that closer ends, or leaves it.
func (s *Scanner) Next(closer byte) bool {
	if s.Pos == s.value {
		s.Skip()
	}
	c, fresh := s.Peek(), s.fresh
	s.fresh = false
	switch {
	case c == closer:
		s.Pos++
		s.depth--
		return false
	case fresh:
		return s.Pos < len(s.Doc) || s.cut()
	case c == ',':
		s.Pos++
		return true
	}
	s.fail("no comma or end after a value")
	return false
}

// cut fails because the input ends too early.
func (s *Scanner) cut() bool {
	s.fail("the JSON ends too early")
	return false
}

// Key reads a key and its colon, and returns the decoded key and its span with quotes.
func (s *Scanner) Key() ([]byte, Span) {
	if s.Peek() != '"' {
		s.fail("no key")
		return nil, Span{}
	}
	at, plain := s.str()
	if s.Peek() != ':' {
		s.fail("no colon after a key")
		return nil, Span{}
	}
	s.Pos++
	s.Peek()
	s.value = s.Pos
	raw := s.Doc[at.From+1 : at.To-1]
	if !plain {
		raw = []byte(Unquote(raw))
	}
	return raw, at
}

// Skip skips one value.
func (s *Scanner) Skip() Span {
	c := s.Peek()
	from := s.Pos
	switch c {
	case '"':
		s.str()
	case '{':
		for ok := s.Enter('{'); ok && s.Next('}'); {
			s.Key()
			s.Skip()
		}
	case '[':
		for ok := s.Enter('['); ok && s.Next(']'); {
			s.Skip()
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
	return Span{from, s.Pos}
}

func (s *Scanner) literal(word string) {
	if end := s.Pos + len(word); end <= len(s.Doc) && string(s.Doc[s.Pos:end]) == word {
		s.Pos = end
		return
	}
	s.fail("no value")
}

// str reads the string that begins here; plain: it has no escapes.
func (s *Scanner) str() (at Span, plain bool) {
	from, plain := s.Pos, true
	for i := run(s.Doc, from+1); ; i = run(s.Doc, i) {
		for i < len(s.Doc) && s.Doc[i] == '\\' { // often one escape behind another
			n := Escape(s.Doc[i:])
			if n == 0 {
				s.Pos = i
				s.fail("no such escape in a string")
				return Span{from, from + 2}, false
			}
			i += n
			plain = false
		}
		switch {
		case i >= len(s.Doc):
			s.cut()
			return Span{from, from + 2}, plain
		case s.Doc[i] == '"':
			s.Pos = i + 1
			return Span{from, s.Pos}, plain
		case s.Doc[i] < ' ':
			s.Pos = i
			s.fail("control character in a string")
			return Span{from, from + 2}, plain
		}
	}
}

// Escape returns the length of the escape at the start of raw, or 0.
func Escape(raw []byte) int {
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

// run returns the first offset from i on of a quote, a backslash or a control character. It checks eight
// bytes at a time: with bit 1 flipped, the quote is the only printable byte below 0x21, so one
// comparison finds it and the control characters. Borrows only spoil bytes behind the first hit.
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

// load returns the eight bytes from i on; the compiler makes one read of it.
func load[T []byte | string](b T, i int) uint64 {
	_ = b[i+7]
	return uint64(b[i]) | uint64(b[i+1])<<8 | uint64(b[i+2])<<16 | uint64(b[i+3])<<24 |
		uint64(b[i+4])<<32 | uint64(b[i+5])<<40 | uint64(b[i+6])<<48 | uint64(b[i+7])<<56
}
