package scan

import "unicode/utf8"

// WholeRunes is where a character begins that s holds only the beginning of, or len(s).
func WholeRunes(s string) int {
	for i := len(s) - 1; i >= max(0, len(s)-utf8.UTFMax); i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return i
			}
			break
		}
	}
	return len(s)
}

// Head is the beginning of s, at most n bytes of it, and never half a character.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Begun is how many bytes at the end of v may be the beginning of lit.
func Begun(v, lit string) int {
	n := min(len(lit)-1, len(v))
	for n > 0 && (lit[n-1] != v[len(v)-1] || v[len(v)-n:] != lit[:n]) {
		n--
	}
	return n
}
