package scan

import "unicode/utf8"

// WholeRunes returns the length of s without a cut character at its end.
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

// Head returns at most n bytes from the beginning of s, in whole characters.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Begun returns how many bytes at the end of v may begin lit.
func Begun(v, lit string) int {
	n := min(len(lit)-1, len(v))
	for n > 0 && (lit[n-1] != v[len(v)-1] || v[len(v)-n:] != lit[:n]) {
		n--
	}
	return n
}
