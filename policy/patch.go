package policy

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

// touch is a file that a patch changes.
type touch struct {
	op   paths.Op
	path string
}

// patchMarks are the lines of a patch that name a file.
var patchMarks = []struct {
	mark string
	op   paths.Op
}{
	{"*** Add File:", paths.Write}, {"*** Update File:", paths.Write}, {"*** Delete File:", paths.Delete},
	{"*** Move to:", paths.Write}, {"+++ ", paths.Write}, {"--- ", paths.Write}, {"rename to ", paths.Write}, {"rename from ", paths.Delete},
}

// patched are the files that a patch changes, in OpenClaw's form and in that of diff. A
// patch that names none cannot be judged.
func patched(text string) (out []touch) {
	ours := strings.Contains(text, "*** Begin Patch")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, m := range patchMarks {
			name, ok := strings.CutPrefix(line, m.mark)
			if !ok || ours && m.mark[0] != '*' {
				continue
			}
			name, _, _ = strings.Cut(strings.TrimSpace(name), "\t")
			if m.mark[0] == '*' || name != "/dev/null" {
				out = append(out, touch{m.op, strings.TrimSpace(name)})
			}
			break
		}
	}
	if len(out) == 0 {
		return []touch{{paths.Write, unreadable}}
	}
	return out
}
