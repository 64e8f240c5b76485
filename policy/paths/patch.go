package paths

import (
	"strconv"
	"strings"
)

// Touch is a file that a patch changes.
type Touch struct {
	Op   Op
	Path string
}

// patchMarks begin the lines of a patch that name a file: in OpenClaw's format, then in that of diff.
var patchMarks = []struct {
	mark string
	op   Op
}{
	{"*** Add File:", Write}, {"*** Update File:", Write}, {"*** Delete File:", Delete}, {"*** Move to:", Write},
	{"+++ ", Write}, {"--- ", Write}, {"*** ", Write}, {"Index: ", Write}, {"diff --git ", Write},
	{"rename to ", Write}, {"copy to ", Write}, {"rename from ", Delete},
}

// Patched returns the files that a patch changes. A name in the format of diff ends at a tab, may be quoted,
// and counts with and without the a/ and b/ of git.
func Patched(text string) (out []Touch) {
	ours := strings.Contains(text, "*** Begin Patch")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for i, m := range patchMarks {
			name, ok := strings.CutPrefix(line, m.mark)
			if openClaw := i < 4; !ok || openClaw != ours {
				continue
			}
			if name = strings.TrimSpace(name); ours {
				out = append(out, Touch{m.op, name})
				break
			}
			if m.mark == "diff --git " {
				name = name[len(name)/2+len(name)%2:] // both halves are the same name, behind a/ and b/
			}
			name, _, _ = strings.Cut(name, "\t")
			if plain, err := strconv.Unquote(name); err == nil && name[0] == '"' {
				name = plain
			}
			if name == "/dev/null" || name == "" {
				break
			}
			out = append(out, Touch{m.op, name})
			if inner, prefixed := strings.CutPrefix(strings.Replace(name, "a/", "b/", 1), "b/"); prefixed {
				out = append(out, Touch{m.op, inner})
			}
			break
		}
	}
	return out
}
