package replicas

import (
	"errors"
	"strings"
	"testing"
)

// Answers pass, whatever pieces they come in; what is none does not.
func TestWire(t *testing.T) {
	for text, good := range map[string]bool{
		"+OK\r\n-ERR no\r\n:12\r\n":              true,
		"$3\r\na\nb\r\n$-1\r\n$0\r\n\r\n":        true,
		"*2\r\n$1\r\n*\r\n$-1\r\n*0\r\n+a\r\n":   true,
		"*-1\r\n:1\r\n":                          true,
		"*2\r\n*1\r\n:1\r\n*0\r\n:1\r\n":         true,
		strings.Repeat("*1\r\n", maxDeep+2):      false,
		strings.Repeat("*9000\r\n", 2):           false,
		"*16385\r\n":                             false,
		"$67108865\r\n":                          false,
		"$9223372036854775807\r\n":               false,
		"$99999999999999999999\r\n":              false,
		"$-2\r\n":                                false,
		"$\r\n":                                  false,
		"\r\n":                                   false,
		"HTTP/1.1 400 Bad Request\r\n":           false,
		"%1\r\n+a\r\n+b\r\n":                     false, // of a later protocol, which nobody has asked for
		strings.Repeat("+", maxLine+2):           false,
		strings.Repeat("\x00", maxLine) + "\r\n": false,
	} {
		var whole, single answerChecker
		err := whole.take([]byte(text))
		var byByte error
		for i := 0; i < len(text) && byByte == nil; i++ {
			byByte = single.take([]byte(text[i : i+1]))
		}
		if (err == nil) != good || !errors.Is(byByte, err) {
			t.Errorf("%.40q: %v, byte by byte %v", text, err, byByte)
		}
	}
}

// Any pieces are taken alike, and nothing is kept beyond a line.
func FuzzWire(f *testing.F) {
	f.Add([]byte("*2\r\n$1\r\na\r\n:1\r\n"), 3)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		cut = max(0, min(cut, len(text)))
		var whole, parts answerChecker
		want := whole.take(text)
		got := parts.take(text[:cut])
		if got == nil {
			got = parts.take(text[cut:])
		}
		if got != want || len(parts.line) > maxLine || want == nil && (parts.text != whole.text ||
			parts.list != whole.list) {
			t.Errorf("%v and %v: %+v, %+v", got, want, parts, whole)
		}
	})
}
