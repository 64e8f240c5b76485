package parse

import (
	"bytes"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// shadowed says that a text in arguments goes on as the header of another message, without control
// tokens: the model lost its way, and what follows is not meant for the tool. Seen of larger
// models that write the same format: https://github.com/whycorporation/whycodes/issues/110.
// Who writes about calls may write such a thing into a file.
func (r *Reader) shadowed(args []byte) bool {
	const to = " to=" + namespace
	if r.s.harmony == nil || r.c.Open() || !bytes.Contains(args, []byte(to)) || r.facts.aboutCalls() {
		return false
	}
	for text := string(args); ; {
		before, behind, more := strings.Cut(text, to)
		if !more {
			return false
		}
		from := len(before)
		for from > 0 && scan.IsLower(before[from-1]) {
			from--
		}
		word, name := before[from:], behind[:nameEnd(behind, 0)]
		// an escaped line break ends with a letter
		if word = strings.TrimPrefix(word, "n"); scan.Among(word, r.s.header.Words.Channels, r.s.header.Words.Roles) && r.c.Exact(name) {
			return true
		}
		text = behind
	}
}
