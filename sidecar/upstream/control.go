package upstream

import (
	"bytes"
	"regexp"
	"strings"
)

const zeroWidthSpace = "\u200b"

// A control token, plain or with the escapes that encoders use in JSON strings.
var controlToken = regexp.MustCompile(`(?:<|\\u003[cC])(?:\||\\u007[cC])(?:start|end|message|channel|constrain|return|call)(?:\||\\u007[cC])(?:>|\\u003[eE])`)

// controlTokens gives the places in text behind the "<" of each control token.
func controlTokens(text []byte) []int {
	if !bytes.Contains(text, []byte("<|")) && !bytes.Contains(text, []byte(`\u00`)) {
		return nil
	}
	var places []int
	for _, at := range controlToken.FindAllIndex(text, -1) {
		open := 1
		if text[at[0]] == '\\' {
			open = len(`\u003c`)
		}
		places = append(places, at[0]+open)
	}
	return places
}

// mask breaks Harmony's control tokens up by a zero-width space after "<". Some
// servers tokenise a rendered prompt as a whole: a token in a tool result or in
// the user's text would then end the message and could begin another one, with
// any role. It works on decoded text and on the inside of a JSON string alike.
// Source: https://github.com/openai/harmony, docs/format.md, "Special Tokens".
func mask(text []byte) []byte {
	found := controlTokens(text)
	if found == nil {
		return text
	}
	var out []byte
	from := 0
	for _, at := range found {
		out = append(append(out, text[from:at]...), zeroWidthSpace...)
		from = at
	}
	return append(out, text[from:]...)
}

func maskString(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	return string(mask([]byte(text)))
}
