package openai

import (
	"crypto/rand"
	"strings"
)

// maxCallID is where OpenClaw cuts call ids.
const maxCallID = 40

// NewCallID is a fresh tool call id of letters and digits: the only ids that
// OpenClaw leaves as they are.
func NewCallID() string { return "call" + rand.Text() }

// ownLetters is how many rand.Text has at least.
const ownLetters = 26

// OwnCallID reports whether an id, clean, looks as NewCallID makes them: its caller got it from us, and no
// two are the same.
func OwnCallID(id string) bool {
	text, ours := strings.CutPrefix(id, "call")
	other := func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '2' || r > '7') }
	return ours && len(text) >= ownLetters && !strings.ContainsFunc(text, other)
}

// CleanCallID is id as OpenClaw will send it back: its letters and digits, at
// most 40 of them. It is "" when none are left.
func CleanCallID(id string) string {
	clean := strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			return c
		}
		return -1
	}, id)
	return clean[:min(len(clean), maxCallID)]
}
