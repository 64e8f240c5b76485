package sidecar

import (
	"bytes"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// The ids of our calls are letters and digits in chat completions. OpenClaw writes every id of the Responses
// API anew that does not begin with call_, and then the call is not known any more.
const (
	chatID  = "call"
	ourID   = "call_"
	letters = 26 // of an id, behind that
)

// newID is a fresh id of anything.
func newID(prefix string) string { return prefix + strings.TrimPrefix(openai.NewCallID(), chatID) }

// outside is the id of a call as callers of the Responses API have it.
func outside(id string) string { return ourID + strings.TrimPrefix(id, chatID) }

// inside is the id that a caller sends back, a JSON string, as the house knows it: ids of others stay.
func inside(id []byte) []byte {
	ours, ok := bytes.CutPrefix(id, []byte(`"`+ourID))
	if !ok || len(ours) != letters+len(`"`) || bytes.ContainsFunc(ours[:letters], foreign) {
		return id
	}
	return append([]byte(`"`+chatID), ours...)
}

// foreign is a character that our ids do not have.
func foreign(c rune) bool { return (c < 'A' || c > 'Z') && (c < '2' || c > '7') }
