package jsonrepair

// asciiSpace is the white space that JSON knows.
const asciiSpace = " \t\r\n"

// plainByte marks the bytes that a JSON string may hold as they are, and which
// end neither the string nor a run of them: all but controls, quote and backslash.
var plainByte = func() (t [256]bool) {
	for c := 0x20; c < len(t); c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// validJSON returns the offset after the JSON value that s begins with, nested no
// deeper than maxDepth, or -1. It is the path of undamaged arguments: one pass,
// no recursion, no allocation in ordinary documents.
func validJSON(s string, maxDepth int) int {
	var near [64]byte
	open := near[:0] // closers still to come
	i := 0
	for {
		// A value begins at i.
		if i >= len(s) {
			return -1
		}
		switch c := s[i]; c {
		case '{', '[':
			if len(open) == maxDepth {
				return -1
			}
			i = skipSpace(s, i+1)
			if i < len(s) && s[i] == c+2 {
				i++
				break
			}
			open = append(open, c+2)
			if c == '{' {
				if i = validKey(s, i); i < 0 {
					return -1
				}
			}
			continue
		case '"':
			i = validString(s, i)
		case 't':
			i = validWord(s, i, "true")
		case 'f':
			i = validWord(s, i, "false")
		case 'n':
			i = validWord(s, i, "null")
		default:
			i = validNumber(s, i)
		}
		if i < 0 {
			return -1
		}
		if i, open = validTail(s, i, open); i < 0 || len(open) == 0 {
			return i
		}
	}
}

// validTail reads what follows a value: closers, then a comma and, in an object,
// the next key. It returns where the next value begins, or -1.
func validTail(s string, i int, open []byte) (int, []byte) {
	for len(open) > 0 {
		i = skipSpace(s, i)
		if i >= len(s) {
			return -1, open
		}
		closer := open[len(open)-1]
		switch {
		case s[i] == closer:
			open = open[:len(open)-1]
			i++
			continue
		case s[i] != ',':
			return -1, open
		}
		i = skipSpace(s, i+1)
		if closer == '}' {
			i = validKey(s, i)
		}
		return i, open
	}
	return i, open
}

// validKey reads a key and its colon, and returns where the value begins, or -1.
func validKey(s string, i int) int {
	if i >= len(s) || s[i] != '"' {
		return -1
	}
	if i = validString(s, i); i < 0 {
		return -1
	}
	i = skipSpace(s, i)
	if i >= len(s) || s[i] != ':' {
		return -1
	}
	return skipSpace(s, i+1)
}

// validString returns the offset after the string that opens at i, or -1.
func validString(s string, i int) int {
	for i++; i < len(s); {
		c := s[i]
		switch {
		case plainByte[c]:
			i++
		case c == '"':
			return i + 1
		case c != '\\':
			return -1
		default:
			n := escapeLen(s[i:])
			if n == 0 {
				return -1
			}
			i += n
		}
	}
	return -1
}

// escapeLen is the length of the valid JSON escape that s begins with, or 0.
func escapeLen(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(s) < 6 {
			return 0
		}
		for _, c := range []byte(s[2:6]) {
			if !isHex(c) {
				return 0
			}
		}
		return 6
	}
	return 0
}

// validNumber returns the offset after the number at i, or -1.
func validNumber(s string, i int) int {
	if i < len(s) && s[i] == '-' {
		i++
	}
	whole := skipDigits(s, i)
	if whole == i || s[i] == '0' && whole > i+1 {
		return -1
	}
	i = whole
	if i < len(s) && s[i] == '.' {
		fraction := skipDigits(s, i+1)
		if fraction == i+1 {
			return -1
		}
		i = fraction
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		exponent := skipDigits(s, i)
		if exponent == i {
			return -1
		}
		i = exponent
	}
	return i
}

func validWord(s string, i int, word string) int {
	if len(s)-i < len(word) || s[i:i+len(word)] != word {
		return -1
	}
	return i + len(word)
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

func skipDigits(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c-'0' < 10 }
func isHex(c byte) bool   { return isDigit(c) || c|0x20-'a' < 6 }
