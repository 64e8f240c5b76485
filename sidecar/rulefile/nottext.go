package rulefile

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// otherBreaks end a line for YAML and for few editors.
const otherBreaks = "\r\u0085\u2028\u2029"

// notText finds what no text file holds.
func (s *source) notText(doc string) (Problem, bool) {
	if len(doc) > maxFile {
		return s.whole(CodeFile, "this file is longer than 1 MiB",
			"no rule file that people write is as long"), false
	}
	for i, l := range s.lines {
		col := -1
		for _, r := range l {
			col++
			if r == 0 || r == utf8.RuneError && !utf8.ValidString(l) {
				return Place{s, i + 1, col + 1, col + 2}.Problem(CodeFile, "this is not text in UTF-8",
					"save the file as UTF-8"), false
			}
			what := ""
			switch {
			case strings.ContainsRune(otherBreaks, r):
				what = "editors do not show this line break"
			case unicode.IsControl(r) && r != '\t':
				what = "this is a control character"
			default:
				continue
			}
			return Place{s, i + 1, col + 1, col + 2}.Problem(CodeFile, what,
				"delete it, or write it as "+strings.Trim(strconv.QuoteRuneToASCII(r), "'")+
					" in double quotes"), false
		}
	}
	return Problem{}, true
}
