package cli

import (
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

// facts are the lines about what a call can do.
func (r *rows) facts(f *policy.Facts) {
	for _, line := range guard.FactLines(f, clipped) {
		in := plain
		if line.Bad {
			in = red
		}
		r.add(line.Level, in, "", "%s", line.Text)
	}
}
