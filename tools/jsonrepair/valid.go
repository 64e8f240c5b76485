package jsonrepair

import "github.com/jgavinray/gpt-oss-executor/internal/jsontext"

// asciiSpace is the white space of JSON.
const asciiSpace = " \t\r\n"

// plainByte marks the bytes that a JSON string may contain unescaped, except quote and backslash.
var plainByte = func() (t [256]bool) {
	for c := 0x20; c < len(t); c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// validEnd returns the offset behind the JSON value at doc[from:], nested no deeper than maxDepth, or
// -1.
func validEnd(doc []byte, from, maxDepth int) int {
	s := jsontext.Scanner{Doc: doc, Pos: from, Depth: maxDepth}
	if s.Skip(); maxDepth <= 0 || s.Err != nil {
		return -1
	}
	return s.Pos
}

// isNumber reports whether s is a JSON number.
func isNumber(s string) bool {
	end, why := jsontext.Number(s, 0)
	return why == "" && end == len(s)
}

func isDigit(c byte) bool { return c-'0' < 10 }
