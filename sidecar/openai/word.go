package openai

import (
	"strconv"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// scanner reads the values of the wire.
type scanner struct{ jsontext.Scanner }

// scan walks the value at the span.
func scan(doc []byte, at Span) scanner {
	return scanner{jsontext.Scanner{Doc: doc[:at.To], Pos: at.From}}
}

// word reads a value; it is "" when that is no string. The words that fill most
// documents cost no allocation.
func (s *scanner) word() (string, Span) {
	at := s.Skip()
	if s.Err != nil || s.Doc[at.From] != '"' {
		return "", at
	}
	raw := s.Doc[at.From+1 : at.To-1]
	for _, w := range words {
		if string(raw) == w {
			return w, at
		}
	}
	return jsontext.Unquote(raw), at
}

// int reads a whole number; any other value is or.
func (s *scanner) int(or int) int {
	at := s.Skip()
	if s.Err != nil || at.To-at.From > 18 {
		return or
	}
	n, err := strconv.Atoi(string(at.Of(s.Doc)))
	if err != nil {
		return or
	}
	return n
}

// null reports whether the value just read is null.
func (s *scanner) null(at Span) bool { return s.Err == nil && s.Doc[at.From] == 'n' }

// words are what fills most documents.
var words = [...]string{"", "system", "developer", "user", "assistant", "tool", "function", "auto",
	"chat.completion", "chat.completion.chunk", "stop", "length", "tool_calls"}
