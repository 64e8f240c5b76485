package scan

import "strings"

// Joined is a text in pieces. A single piece, as of a whole reply, is not copied.
type Joined struct {
	only string
	all  strings.Builder // all text, once there are two pieces
}

const leastGrowth = 512

// Add adds a piece and returns it as a part of the text.
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
		j.all.Grow(max(len(s), leastGrowth)) // doubles the capacity; by itself it grows by a quarter only
	}
	j.all.WriteString(s)
	return j.all.String()[j.all.Len()-len(s):]
}

// Len returns the length in bytes.
func (j *Joined) Len() int { return len(j.only) + j.all.Len() }

// String returns the text.
func (j *Joined) String() string {
	if j.all.Len() == 0 {
		return j.only
	}
	return j.all.String()
}
