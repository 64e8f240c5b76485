package harmony

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// marks are what tokenizers write blanks and line ends as; servers that do not decode them leave
// them in headers, too.
const marks = "▁ĠĊ"

// gapAt is how many bytes at s[i:] stand for a blank or a line end, or 0.
func gapAt(s string, i int) int {
	switch b := s[i]; {
	case scan.IsSpace(b):
		return 1
	case b < 0x80:
		return 0
	}
	for _, m := range marks {
		if strings.HasPrefix(s[i:], string(m)) {
			return len(string(m))
		}
	}
	return 0
}

// skipGaps is the offset of the first byte of s at or behind i that is in no gap.
func skipGaps(s string, i int) int {
	for i < len(s) {
		n := gapAt(s, i)
		if n == 0 {
			break
		}
		i += n
	}
	return i
}

// wordEnd is where the word at s[i:] ends: letters, digits, _ and -.
func wordEnd(s string, i int) int {
	for i < len(s) && gapAt(s, i) == 0 && (scan.IsWord(s[i]) || s[i] == '-') {
		i++
	}
	return i
}
