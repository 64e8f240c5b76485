package openai

// Fault is an error as a server words it.
type Fault struct {
	Message, Type, Code, Param string // Code may have been a number
}

// ReadFault finds the error in a body or event: OpenAI's {"error":{…}}, the flat
// {"object":"error",…} of vLLM and SGLang, Ollama's {"error":"…"}, FastAPI's
// {"detail":"…"}. It is false when there is none.
func ReadFault(doc []byte) (Fault, bool) {
	s := scanner{doc: doc}
	var flat, nested Fault
	object, found := "", false
	for ok := s.enter('{'); ok && s.next('}'); {
		switch key, _ := s.key(); string(key) {
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
	if s.end() != nil {
		return Fault{}, false
	}
	if found {
		return nested, true
	}
	return flat, object == "error" || object == "" && flat.Message != ""
}

// fault reads the value of error: an object, or the message alone.
func (s *scanner) fault() (f Fault, found bool) {
	if s.peek() != '{' {
		f.Message, found = s.scalar()
		return f, found
	}
	for ok := s.enter('{'); ok && s.next('}'); {
		key, _ := s.key()
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
	default:
		s.skip()
	}
}

// scalar reads a value as text: a string decoded, anything else as it stands.
// It is false for null, false and "".
func (s *scanner) scalar() (string, bool) {
	at := s.skip()
	if s.err != nil {
		return "", false
	}
	if text, ok := Text(s.doc, at); ok {
		return text, text != ""
	}
	switch text := string(at.Of(s.doc)); text {
	case "null", "false":
		return "", false
	default:
		return text, true
	}
}
