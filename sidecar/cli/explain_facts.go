package cli

import (
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

// facts are the lines about what a call can do.
func (r *Rows) facts(f *policy.Facts) {
	for _, line := range guard.FactLines(f, Clipped) {
		in := Plain
		if line.Bad {
			in = Red
		}
		r.Add(line.Level, in, "", "%s", line.Text)
	}
}
