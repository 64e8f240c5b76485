package scan

import "strings"

// Joined is a text made of pieces. A whole reply is often one piece: it is not copied.
type Joined struct {
	only string
	all  strings.Builder // what was added, once there are two pieces
}

const leastGrowth = 512

// Add adds a piece.
func (j *Joined) Add(s string) {
	if j.Len() == 0 {
		j.only = s
		return
	}
	if n := len(j.only) + len(s); j.all.Cap()-j.all.Len() < n {
		j.all.Grow(max(n, leastGrowth)) // twice as long, too: by itself it grows by a quarter only
	}
	j.all.WriteString(j.only)
	j.all.WriteString(s)
	j.only = ""
}

// Len is how long the text is, in bytes.
func (j *Joined) Len() int { return len(j.only) + j.all.Len() }

// String is the text.
func (j *Joined) String() string {
	if j.all.Len() == 0 {
		return j.only
	}
	return j.all.String()
}
