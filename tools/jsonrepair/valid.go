package jsonrepair

import "github.com/jgavinray/gpt-oss-executor/internal/jsontext"

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

// validEnd returns the offset after the JSON value that begins at doc[from:], nested no
// deeper than maxDepth, or -1.
func validEnd(doc []byte, from, maxDepth int) int {
	s := jsontext.Scanner{Doc: doc, Pos: from, Depth: maxDepth}
	if s.Skip(); maxDepth <= 0 || s.Err != nil {
		return -1
	}
	return s.Pos
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
