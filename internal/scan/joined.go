package scan

import "strings"

// Joined is a text made of pieces. A whole reply is often one piece: it is not copied.
type Joined struct {
	only string
	all  strings.Builder // what was added, once there are two pieces
}

const leastGrowth = 512

// Add adds a piece, and gives it back as a part of the text: only the first may stay where it is.
func (j *Joined) Add(s string) string {
	if j.all.Len() == 0 {
		if j.only == "" {
			j.only = s
			return s
		}
		j.all.Grow(max(len(j.only)+len(s), leastGrowth))
		j.all.WriteString(j.only)
		j.only = ""
	} else if j.all.Cap()-j.all.Len() < len(s) {
		j.all.Grow(max(len(s), leastGrowth)) // twice as long, too: by itself it grows by a quarter only
	}
	j.all.WriteString(s)
	return j.all.String()[j.all.Len()-len(s):]
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
