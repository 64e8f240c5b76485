package openai

import "github.com/jgavinray/gpt-oss-executor/internal/jsontext"

// Fault is an error as a server words it.
type Fault struct {
	Message, Type, Code, Param string // Code may have been a number
}

// ReadFault finds the error in a body or event: OpenAI's {"error":{…}}, the flat
// {"object":"error",…} of vLLM and SGLang, Ollama's {"error":"…"}, FastAPI's
// {"detail":"…"}. It is false when there is none.
func ReadFault(doc []byte) (Fault, bool) {
	s := scanner{jsontext.Scanner{Doc: doc}}
	var flat, nested Fault
	object, found := "", false
	for ok := s.Enter('{'); ok && s.Next('}'); {
		switch key, _ := s.Key(); string(key) {
		case "error":
			nested, found = s.fault()
		case "detail":
			flat.Message, _ = s.scalar()
		case "object":
			object, _ = s.word()
		default:
			flat.member(&s, key)
		}
	}
	if s.End() != nil {
		return Fault{}, false
	}
	if found {
		return nested, true
	}
	return flat, object == "error" || object == "" && flat.Message != ""
}

// fault reads the value of error: an object, or the message alone.
func (s *scanner) fault() (f Fault, found bool) {
	if s.Peek() != '{' {
		f.Message, found = s.scalar()
		return f, found
	}
	for ok := s.Enter('{'); ok && s.Next('}'); {
		key, _ := s.Key()
		f.member(s, key)
	}
	return f, true
}

func (f *Fault) member(s *scanner, key []byte) {
	switch string(key) {
	case "message":
		f.Message, _ = s.scalar()
	case "type":
		f.Type, _ = s.scalar()
	case "code":
		f.Code, _ = s.scalar()
	case "param":
		f.Param, _ = s.scalar()
	}
}

// scalar reads a value as text: a string decoded, anything else as it stands.
// It is false for null, false and "".
func (s *scanner) scalar() (string, bool) {
	at := s.Skip()
	if s.Err != nil {
		return "", false
	}
	if text, ok := Text(s.Doc, at); ok {
		return text, text != ""
	}
	switch text := string(at.Of(s.Doc)); text {
	case "null", "false":
		return "", false
	default:
		return text, true
	}
}
