package openai

import "crypto/rand"

// maxCallID is where OpenClaw cuts call ids.
const maxCallID = 40

// NewCallID is a fresh tool call id of letters and digits: the only ids that
// OpenClaw leaves as they are.
func NewCallID() string { return "call" + rand.Text() }

// CleanCallID is id as OpenClaw will send it back: its letters and digits, at
// most 40 of them. It is "" when none are left.
func CleanCallID(id string) string {
	i := 0
	for i < len(id) && alphanumeric(id[i]) {
		i++
	}
	if i == len(id) && i <= maxCallID {
		return id
	}
	clean := make([]byte, 0, maxCallID)
	for i := 0; i < len(id) && len(clean) < maxCallID; i++ {
		if alphanumeric(id[i]) {
			clean = append(clean, id[i])
		}
	}
	return string(clean)
}

func alphanumeric(c byte) bool {
	return c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'z'
}
