package policy

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
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

// mediaLine is how OpenClaw is told in the text of a message to send a file along.
var mediaLine = lazyregexp.New(`(?im)\bMEDIA:\s*([^\n]+)`)

// attached are the files that a message names to be sent along: what stands behind MEDIA:,
// and each word of it, since there may be several.
func attached(text string) (out []string) {
	if !strings.Contains(strings.ToLower(text), "media:") {
		return nil
	}
	for _, m := range mediaLine().FindAllStringSubmatch(text, mostArguments) {
		for _, name := range append(strings.Fields(m[1]), m[1]) {
			if name = strings.Trim(name, "`\"'[]{}(), \r\\"); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}
