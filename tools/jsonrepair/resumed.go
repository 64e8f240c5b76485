package jsonrepair

import (
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Resumed returns the object that ends text if only beginnings of it precede it: resumed streams repeat
// what they sent, and so do joined snapshots. No other text looks so, hence this is no guess.
func Resumed(text string, maxDepth int) (object string, ok bool) {
	if maxDepth <= 0 {
		maxDepth = defaultDepth
	}
	text = strings.Trim(text, asciiSpace)
	at := lastObject(text)
	if at <= 0 || validEnd([]byte(text[at:]), 0, maxDepth) != len(text)-at {
		return "", false
	}
	object = text[at:]
	match := matches(object, text[:at])
	reach := 0 // up to here, a beginning may end anywhere
	for i := 0; i < at && i <= reach; i++ {
		switch half := string(utf8.RuneError); {
		case scan.IsSpace(text[i]):
			reach = max(reach, i+1)
		case strings.HasPrefix(text[i:], half): // of a cut character
			reach = max(reach, i+len(half))
		}
		reach = max(reach, i+match[i])
	}
	return object, reach >= at
}

// lastObject returns the start of the valid object that ends text; else any offset, or -1. It reads
// backwards, where a quotation mark counts unless backslashes precede it.
func lastObject(text string) int {
	if !strings.HasSuffix(text, "}") {
		return -1
	}
	depth, inString := 0, false
	for i := len(text) - 1; i >= 0; i-- {
		switch c := text[i]; {
		case c == '"':
			from := i
			for from > 0 && text[from-1] == '\\' {
				from--
			}
			if (i-from)%2 == 0 {
				inString = !inString
			}
			i = from
		case inString:
		case c == '}':
			depth++
		case c == '{':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// matches returns, for each offset of text, the length of the beginning of object there. It is the Z
// function, in linear time.
func matches(object, text string) []int {
	all := object + text
	z := make([]int, len(all))
	for i, from, to := 1, 0, 0; i < len(all); i++ {
		if i < to {
			z[i] = min(to-i, z[i-from])
		}
		for i+z[i] < len(all) && all[z[i]] == all[i+z[i]] {
			z[i]++
		}
		if i+z[i] > to {
			from, to = i, i+z[i]
		}
	}
	for i := range z {
		z[i] = min(z[i], len(object))
	}
	return z[len(object):]
}

// beginsAgain reports whether the text begins again within itself, or at its end, as a resumed stream
// does.
func (m *mender) beginsAgain() bool {
	text := strings.TrimRight(m.text[max(strings.IndexByte(m.text, '{'), 0):], asciiSpace)
	colon := strings.IndexByte(text[:min(len(text), lookAhead)], ':')
	m.work += len(text)
	return text != "" && strings.HasSuffix(text, `{"`) || colon > 0 &&
		strings.Contains(text[1:], text[:colon+1])
}
