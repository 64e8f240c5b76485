package tools

// JSONScan finds where the JSON object or array that a growing text begins with
// ends. The zero value is ready. It judges no syntax: it counts the brackets of
// the outermost kind outside of strings, so that a wrong closer of the other
// kind does not end the value early.
type JSONScan struct {
	pos      int  // bytes read
	depth    int  // open brackets of the outermost kind
	open     byte // '{' or '[' once the value has begun
	inString bool
	escaped  bool // the byte before pos was a backslash in a string
	done     bool
}

// Scan reads on in text, which is all text so far: every call passes the text
// of the call before, or a longer one. It reports the offset after the value
// once its last bracket is there. Text that begins with anything but white
// space and a bracket is never done. All calls together cost one pass.
func (s *JSONScan) Scan(text string) (end int, done bool) {
	for ; !s.done && s.pos < len(text); s.pos++ {
		c := text[s.pos]
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString:
			s.escaped = c == '\\'
			s.inString = c != '"'
		case s.open == 0:
			if !s.begin(c) {
				return 0, false
			}
		case c == '"':
			s.inString = true
		case c == s.open:
			s.depth++
		case c == s.open+2: // } follows { by two in ASCII, as ] follows [
			s.depth--
			s.done = s.depth == 0
		}
	}
	if !s.done {
		return 0, false
	}
	return s.pos, true
}

// begin takes a byte before the value, and reports whether one can still come.
func (s *JSONScan) begin(c byte) bool {
	switch c {
	case '{', '[':
		s.open, s.depth = c, 1
		return true
	case ' ', '\t', '\n', '\r':
		return true
	}
	return false
}
