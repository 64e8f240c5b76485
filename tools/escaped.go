package tools

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// misreadEscape returns why an escape was hardly meant as one: the \b of a pattern, the \f of \frac, the
// \t of C:\temp, half a character. Tabs and line ends are common in texts; only behind a drive letter
// they are part of a path, line ends only in a command.
func misreadEscape(object []byte, class Class) string {
	for i := 0; ; {
		n := bytes.IndexByte(object[i:], '\\')
		if n < 0 {
			return ""
		}
		i += n
		size := max(jsontext.Escape(object[i:]), 1) // already validated
		escape := object[i : i+size]
		switch c := object[i+1]; {
		case c == 'u':
			size = codeUnits(object[i:])
		case c == 'b', c == 'f', (c == 't' || class == Exec && (c == 'n' || c == 'r')) &&
			behindDrive(object[:i]) && inPath(object[i+size:]):
			size = 0
		}
		if size == 0 {
			return fmt.Sprintf(`a text in it holds %s, which is no such sign but an escape of JSON; write \%s for a backslash`, escape, escape)
		}
		i += size
	}
}

// codeUnits returns the length of the \u escapes at the start of doc that form one character, or 0.
func codeUnits(doc []byte) int {
	const one = len(`\u0000`)
	r := codeUnit(doc)
	switch {
	case r <= 0 || r == '\b' || r == '\f':
		return 0
	case !utf16.IsSurrogate(r):
		return one
	case utf16.DecodeRune(r, codeUnit(doc[one:])) != utf8.RuneError:
		return 2 * one
	}
	return 0
}

// codeUnit returns the code unit at the start of doc, or -1.
func codeUnit(doc []byte) rune {
	if !bytes.HasPrefix(doc, []byte(`\u`)) || jsontext.Escape(doc) == 0 {
		return -1
	}
	r, err := strconv.ParseUint(string(doc[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(r)
}

// inPath reports whether text continues like a path.
func inPath(text []byte) bool { return len(text) > 0 && isNameByte(text[0]) }

// behindDrive reports whether text ends with a drive: C:
func behindDrive(text []byte) bool {
	n := len(text)
	if n < 2 || text[n-1] != ':' || text[n-2]|0x20 < 'a' || text[n-2]|0x20 > 'z' {
		return false
	}
	return n < 3 || !isNameByte(text[n-3]) || n > 3 && text[n-4] == '\\'
}
