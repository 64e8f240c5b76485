package parse

import "strings"

// token is one of the control tokens of the Harmony format, as text.
// https://github.com/openai/harmony/blob/main/docs/format.md
type token uint8

const (
	noToken token = iota
	startToken
	channelToken
	messageToken
	constrainToken
	endToken
	callToken
	returnToken
)

var tokenNames = [...]string{
	startToken:     "<|start|>",
	channelToken:   "<|channel|>",
	messageToken:   "<|message|>",
	constrainToken: "<|constrain|>",
	endToken:       "<|end|>",
	callToken:      "<|call|>",
	returnToken:    "<|return|>",
}

// closes says that a message ends here.
func (t token) closes() bool { return t == endToken || t == callToken || t == returnToken }

// opens says that a header begins here.
func (t token) opens() bool { return t == startToken || t == channelToken }

// tokenAt reads the token at the start of s. more says that s is too short to
// tell.
func tokenAt(s string) (tok token, n int, more bool) {
	if len(s) < 2 {
		return noToken, 0, s == "<"
	}
	if s[0] != '<' || s[1] != '|' {
		return noToken, 0, false
	}
	for t := startToken; t <= returnToken; t++ {
		name := tokenNames[t]
		if strings.HasPrefix(s, name) {
			return t, len(name), false
		}
		if len(s) < len(name) && name[:len(s)] == s {
			more = true
		}
	}
	return noToken, 0, more
}

// findToken finds the first token in s at or after from. open is the offset of
// a tail that could still become one, or len(s).
func findToken(s string, from int) (at int, tok token, n, open int) {
	for i := from; i < len(s); i++ {
		j := strings.IndexByte(s[i:], '<')
		if j < 0 {
			break
		}
		i += j
		tok, n, more := tokenAt(s[i:])
		if tok != noToken {
			return i, tok, n, len(s)
		}
		if more {
			return -1, noToken, 0, i
		}
	}
	return -1, noToken, 0, len(s)
}

func blank(s string) bool { return skipSpace(s, 0) == len(s) }

// skipSpace is the offset of the first byte of s at or after i that is no white space.
func skipSpace(s string, i int) int {
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	return i
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b >= 0x80
}

func isLower(b byte) bool { return b >= 'a' && b <= 'z' }

// hasFold is strings.HasPrefix without regard to ASCII case. more says that s is
// a proper prefix of lit.
func hasFold(s, lit string) (yes, more bool) {
	n := min(len(s), len(lit))
	for i := range n {
		a, b := s[i], lit[i]
		if a|0x20 != b|0x20 || a != b && !(a|0x20 >= 'a' && a|0x20 <= 'z') {
			return false, false
		}
	}
	return n == len(lit), n < len(lit)
}
