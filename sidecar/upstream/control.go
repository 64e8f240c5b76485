package upstream

import (
	"bytes"
	"regexp"
	"strings"
)

const zeroWidthSpace = "\u200b"

// A control token, plain or with the escapes that encoders use in JSON strings: its "<", and
// the rest.
var controlToken = regexp.MustCompile(`(<|\\u003[cC])((?:\||\\u007[cC])(?:start|end|message|channel|constrain|return|call)(?:\||\\u007[cC])(?:>|\\u003[eE]))`)

// mayHold says at a glance whether a control token can stand in text.
func mayHold(text []byte) bool {
	return bytes.Contains(text, []byte("<|")) || bytes.Contains(text, []byte(`\u00`))
}

// mask breaks Harmony's control tokens up by a zero-width space after "<". Some
// servers tokenise a rendered prompt as a whole: a token in a tool result or in
// the user's text would then end the message and could begin another one, with
// any role. It works on decoded text and on the inside of a JSON string alike.
// Source: https://github.com/openai/harmony, docs/format.md, "Special Tokens".
func mask(text []byte) []byte {
	if !mayHold(text) {
		return text
	}
	return controlToken.ReplaceAll(text, []byte("${1}"+zeroWidthSpace+"${2}"))
}

// Masked does the same to a text.
func Masked(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	return string(mask([]byte(text)))
}
