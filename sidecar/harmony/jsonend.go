package harmony

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Scan finds where the JSON value ends that a growing text begins with at At. It
// resumes where it stopped, so that any chunking costs one pass.
type Scan struct {
	At       int       // how far it has read
	Depth    int       // of open brackets
	InString bool      // At stands in a string
	End      int       // offset behind the value; 0 while it is open
	Stop     int       // offset, plus one, of what ends an open value: a token or one of the literals
	Tokens   *Alphabet // of the control tokens that end the value, outside strings; nil: none do
	Stops    []string  // so do these literals, in any case
}

// Run reads on in v, which begins with the text of the run before. It is true
// once End or Stop is known.
func (s *Scan) Run(v string, eof bool) bool {
	quote, slash := -1, -1 // the next ones, as far as they were searched
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

// leaveString goes on to the end of a string, or to the escape in front of it.
// It is false where v ends before.
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

// Cut is where the value ends: behind it, at what stops it, or at the end of v.
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
