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

// insideHeader says that the token stands within a header, and ends no message.
func (t token) insideHeader() bool { return t == messageToken || t == constrainToken }

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
