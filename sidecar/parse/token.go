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

// tokenAt reads the token at the start of s, and says how long it is.
func tokenAt(s string, eof bool) (tok token, n int, is verdict) {
	if s == "" || s[0] != '<' || len(s) > 1 && s[1] != '|' {
		return noToken, 0, no
	}
	for t := startToken; t <= returnToken; t++ {
		if is = starts(s, tokenNames[t], eof); is == yes {
			return t, len(tokenNames[t]), yes
		} else if is == wait {
			return noToken, 0, wait
		}
	}
	return noToken, 0, no
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
		switch tok, n, is := tokenAt(s[i:], false); is {
		case yes:
			return i, tok, n, len(s)
		case wait:
			return -1, noToken, 0, i
		}
	}
	return -1, noToken, 0, len(s)
}
