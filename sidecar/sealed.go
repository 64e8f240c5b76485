package sidecar

import (
	"encoding/base64"
	"strings"
)

// seal marks what is ours among the encrypted_content of a client.
const seal = "gpt-oss."

// sealed is a chain of thought for clients that keep encrypted_content and nothing else of a
// reasoning item. There is nothing to hide: the same item shows its text.
func sealed(thought string) string { return seal + base64.StdEncoding.EncodeToString([]byte(thought)) }

// opened is the chain of thought in what a client sends back; false if it is none of ours.
func opened(content string) (string, bool) {
	ours, ok := strings.CutPrefix(content, seal)
	if !ok {
		return "", false
	}
	thought, err := base64.StdEncoding.DecodeString(ours)
	return string(thought), err == nil
}
