package policy

import (
	"regexp"
	"strings"
)

// mediaLine is how OpenClaw is told in the text of a message to send a file along.
var mediaLine = regexp.MustCompile(`(?im)\bMEDIA:\s*([^\n]+)`)

// attached are the files that a message names to be sent along: what stands behind MEDIA:,
// and each word of it, since there may be several.
func attached(text string) (out []string) {
	if !strings.Contains(strings.ToLower(text), "media:") {
		return nil
	}
	for _, m := range mediaLine.FindAllStringSubmatch(text, mostArguments) {
		for _, name := range append(strings.Fields(m[1]), m[1]) {
			if name = strings.Trim(name, "`\"'[]{}(), \r\\"); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}
