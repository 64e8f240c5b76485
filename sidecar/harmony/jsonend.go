package harmony

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Scan finds the end of the JSON value at At in a growing text. It resumes where it stopped, so that any
// chunking costs one pass.
type Scan struct {
	At       int       // offset of the next byte to read
	Depth    int       // open brackets
	InString bool      // At is within a string
	End      int       // offset behind the value; 0 while it is open
	Stop     int       // offset, plus one, of the token or literal that ends an open value
	Tokens   *Alphabet // control tokens that end the value, outside strings; nil: none
	Stops    []string  // literals that do so, in any case
}

// Run continues in v, which extends the text of the previous run. It returns true once End or Stop is
// known.
func (s *Scan) Run(v string, eof bool) bool {
	quote, slash := -1, -1 // offsets of the next ones, once searched
	for s.End == 0 && s.Stop == 0 && s.At < len(v) {
		if s.InString {
			if quote < s.At {
				quote = indexFrom(v, s.At, '"')
			}
			if slash < s.At {
				slash = indexFrom(v, s.At, '\\')
			}
			if !s.leaveString(v, quote, slash) {
				break
			}
			continue
		}
		switch b := v[s.At]; b {
		case '"':
			s.InString = true
		case '}', ']':
			if s.Depth--; s.Depth <= 0 {
				s.End = s.At + 1
			}
		default:
			if is := s.stopAt(v, eof); is != scan.No { // a literal may begin with a bracket
				return is == scan.Yes
			}
			if b == '{' || b == '[' {
				s.Depth++
			}
		}
		s.At++
	}
	return s.End > 0 || s.Stop > 0
}

// leaveString skips to the end of a string or to an escape; false if v ends before.
func (s *Scan) leaveString(v string, quote, slash int) bool {
	switch {
	case quote < slash:
		s.At, s.InString = quote+1, false
	case slash+1 < len(v):
		s.At = slash + 2
	default:
		s.At = min(slash, len(v))
		return false
	}
	return true
}

func (s *Scan) stopAt(v string, eof bool) scan.Verdict {
	is := scan.No
	if s.Tokens != nil && s.Tokens.Leads(v[s.At]) {
		_, is = s.Tokens.At(v[s.At:], eof)
	}
	if is == scan.No && s.Depth > 0 && len(s.Stops) > 0 {
		_, is = scan.StartsAnyFold(v[s.At:], s.Stops, eof)
	}
	if is == scan.Yes {
		s.Stop = s.At + 1
	}
	return is
}

// Cut returns the end of the value, its stop, or the end of v.
func (s *Scan) Cut(v string) int {
	switch {
	case s.End > 0:
		return s.End
	case s.Stop > 0:
		return s.Stop - 1
	}
	return len(v)
}

func indexFrom(v string, i int, b byte) int {
	if j := strings.IndexByte(v[i:], b); j >= 0 {
		return i + j
	}
	return len(v)
}
