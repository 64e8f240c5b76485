package parse

import "strings"

// joined is a text made of pieces. A whole reply is often one piece: it is not copied.
type joined struct {
	only string
	all  strings.Builder // what was added, once there are two pieces
}

func (j *joined) add(s string) {
	if j.Len() == 0 {
		j.only = s
		return
	}
	j.all.WriteString(j.only)
	j.all.WriteString(s)
	j.only = ""
}

func (j *joined) Len() int { return len(j.only) + j.all.Len() }

func (j *joined) String() string {
	if j.all.Len() == 0 {
		return j.only
	}
	return j.all.String()
}
