package harmony

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Shadow says that a text goes on as the header of another message, without control tokens: the
// model lost its way, and what follows is not meant for whom the text is for. known says that a
// name is that of a tool. Seen of larger models that write the same format:
// https://github.com/whycorporation/whycodes/issues/110.
func (g *Grammar) Shadow(text string, known func(name string) bool) bool {
	const to = " to=" + Namespace
	for {
		before, behind, more := strings.Cut(text, to)
		if !more {
			return false
		}
		from := len(before)
		for from > 0 && scan.IsLower(before[from-1]) {
			from--
		}
		end := 0
		for end < len(behind) && scan.IsName(behind[end]) {
			end++
		}
		word := strings.TrimPrefix(before[from:], "n") // the letter of an escaped line break
		if scan.Among(word, g.Words.Channels, g.Words.Roles) && known(behind[:end]) {
			return true
		}
		text = behind
	}
}
