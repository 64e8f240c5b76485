package parse

import (
	"slices"
	"strings"
)

// verdict is what a look at text yields that may still grow.
type verdict uint8

const (
	no   verdict = iota // it is not, whatever follows
	yes                 // it is, whatever follows
	wait                // too short to tell
)

// waitUnless is the verdict on text that is too short to tell.
func waitUnless(eof bool) verdict {
	if eof {
		return no
	}
	return wait
}

// waitOr is the verdict on text that is right if it ends here.
func waitOr(eof bool) verdict {
	if eof {
		return yes
	}
	return wait
}

// starts says whether s begins with lit.
func starts(s, lit string, eof bool) verdict {
	switch {
	case strings.HasPrefix(s, lit):
		return yes
	case !eof && len(s) < len(lit) && lit[:len(s)] == s:
		return wait
	}
	return no
}

// startsFold is starts without regard to ASCII case.
func startsFold(s, lit string, eof bool) verdict {
	n := min(len(s), len(lit))
	for i := range n {
		if lower(s[i]) != lower(lit[i]) {
			return no
		}
	}
	switch {
	case n == len(lit):
		return yes
	case eof:
		return no
	}
	return wait
}

// startsAnyFold says whether s begins with one of the literals, of n bytes, without
// regard to ASCII case.
func startsAnyFold(s string, lits []string, eof bool) (n int, is verdict) {
	for _, lit := range lits {
		if is := startsFold(s, lit, eof); is != no {
			return len(lit), is
		}
	}
	return 0, no
}

// startsAny says which of the literals s begins with; the first one that may
// still come is waited for.
func startsAny(s string, lits []string, eof bool) (lit string, is verdict) {
	for _, lit := range lits {
		if is := starts(s, lit, eof); is != no {
			return lit, is
		}
	}
	return "", no
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

func upper(b byte) byte {
	if isLower(b) {
		return b - 'a' + 'A'
	}
	return b
}

func blank(s string) bool { return skipSpace(s, 0) == len(s) }

// skipSpace is the offset of the first byte of s at or after i that is no white space.
func skipSpace(s string, i int) int {
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	return i
}

// skipBlanks is skipSpace within a line.
func skipBlanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// skipBytes is the offset of the first byte of s at or after i that is not in set.
func skipBytes(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
		i++
	}
	return i
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

func isLower(b byte) bool { return b >= 'a' && b <= 'z' }

func isWord(b byte) bool {
	return isLower(b) || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b >= 0x80
}

// isName says whether b may stand in the name of a tool.
func isName(b byte) bool { return isWord(b) || b == '-' || b == '.' }

func among(s string, lists ...[]string) bool {
	return slices.ContainsFunc(lists, func(l []string) bool { return slices.Contains(l, s) })
}
