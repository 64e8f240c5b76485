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
	if text, ok := known(raw); ok {
		return text, at
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

func known(raw []byte) (string, bool) {
	switch string(raw) {
	case "":
		return "", true
	case "system":
		return "system", true
	case "developer":
		return "developer", true
	case "user":
		return "user", true
	case "assistant":
		return "assistant", true
	case "tool":
		return "tool", true
	case "function":
		return "function", true
	case "auto":
		return "auto", true
	case "chat.completion":
		return "chat.completion", true
	case "chat.completion.chunk":
		return "chat.completion.chunk", true
	case "stop":
		return "stop", true
	case "length":
		return "length", true
	case "tool_calls":
		return "tool_calls", true
	}
	return "", false
}
