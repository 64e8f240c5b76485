package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/alphabet"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// valueScan finds where the JSON value that a growing text begins with ends. It
// resumes where it stopped, so that any chunking costs one pass.
type valueScan struct {
	at       int
	depth    int
	inString bool
	end      int                // offset behind the value; 0 while it is open
	stop     int                // offset, plus one, of what ends an open value: a token or one of the literals
	tokens   *alphabet.Alphabet // of the control tokens that end the value, outside strings; nil: none do
	stops    []string           // so do these literals
}

// run reads on in v, which begins with the text of the run before. It is true
// once end or stop is known.
func (s *valueScan) run(v string, eof bool) bool {
	quote, slash := -1, -1 // the next ones, as far as they were searched
	for s.end == 0 && s.stop == 0 && s.at < len(v) {
		if s.inString {
			if quote < s.at {
				quote = indexFrom(v, s.at, '"')
			}
			if slash < s.at {
				slash = indexFrom(v, s.at, '\\')
			}
			if !s.leaveString(v, quote, slash) {
				break
			}
			continue
		}
		switch b := v[s.at]; b {
		case '"':
			s.inString = true
		case '}', ']':
			if s.depth--; s.depth <= 0 {
				s.end = s.at + 1
			}
		default:
			if is := s.stopAt(v, eof); is != no { // a literal may begin with a bracket
				return is == yes
			}
			if b == '{' || b == '[' {
				s.depth++
			}
		}
		s.at++
	}
	return s.end > 0 || s.stop > 0
}

// leaveString goes on to the end of a string, or to the escape in front of it.
// It is false where v ends before.
func (s *valueScan) leaveString(v string, quote, slash int) bool {
	switch {
	case quote < slash:
		s.at, s.inString = quote+1, false
	case slash+1 < len(v):
		s.at = slash + 2
	default:
		s.at = min(slash, len(v))
		return false
	}
	return true
}

func (s *valueScan) stopAt(v string, eof bool) verdict {
	is := no
	if s.tokens != nil && s.tokens.Leads(v[s.at]) {
		_, is = s.tokens.At(v[s.at:], eof)
	}
	if is == no && s.depth > 0 && len(s.stops) > 0 {
		_, is = scan.StartsAnyFold(v[s.at:], s.stops, eof)
	}
	if is == yes {
		s.stop = s.at + 1
	}
	return is
}

// cut is where the value ends: behind it, at what stops it, or at the end of v.
func (s *valueScan) cut(v string) int {
	switch {
	case s.end > 0:
		return s.end
	case s.stop > 0:
		return s.stop - 1
	}
	return len(v)
}

func indexFrom(v string, i int, b byte) int {
	if j := strings.IndexByte(v[i:], b); j >= 0 {
		return i + j
	}
	return len(v)
}
