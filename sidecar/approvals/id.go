package approvals

import (
	"crypto/rand"
	"strings"
)

// letters are those of Crockford's base 32, of which none is taken for another one.
const letters = "0123456789abcdefghjkmnpqrstvwxyz"

// newID is a name of 40 random bits that is easy to type: k7pw-3mdx.
func newID() string {
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // never fails
	for i := range raw {
		raw[i] = letters[raw[i]%32]
	}
	return string(raw[:4]) + "-" + string(raw[4:])
}

// typed is the id that a person meant: capitals, a dash that is missing, and letters
// that look like digits do not matter.
func typed(id string) string {
	id = strings.NewReplacer("-", "", " ", "", "o", "0", "i", "1", "l", "1").Replace(strings.ToLower(id))
	if len(id) != 8 {
		return ""
	}
	return id[:4] + "-" + id[4:]
}
