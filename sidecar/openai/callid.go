package openai

import (
	"crypto/rand"
	"strings"
)

// maxCallID is the length to which OpenClaw cuts call ids.
const maxCallID = 40

// NewCallID returns a fresh id of letters and digits, which OpenClaw leaves as it is.
func NewCallID() string { return "call" + rand.Text() }

// ownLetters is the least length of rand.Text.
const ownLetters = 26

// OwnCallID reports whether a clean id has the form of NewCallID, and so is unique.
func OwnCallID(id string) bool {
	text, ours := strings.CutPrefix(id, "call")
	other := func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '2' || r > '7') }
	return ours && len(text) >= ownLetters && !strings.ContainsFunc(text, other)
}

// CleanCallID returns the id as OpenClaw sends it back: at most 40 of its letters and digits, maybe none.
func CleanCallID(id string) string {
	clean := strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			return c
		}
		return -1
	}, id)
	return clean[:min(len(clean), maxCallID)]
}
