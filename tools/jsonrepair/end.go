package jsonrepair

import "github.com/jgavinray/gpt-oss-executor/internal/scan"

// End returns the offset behind the JSON object or array that begins text, and whether its last bracket
// is there. It counts only brackets of the outermost kind outside of strings, so that a wrong closer of
// the other kind does not end the value. Other text yields none.
func End(text string) (end int, ok bool) {
	begin := scan.SkipSpace(text, 0)
	if begin == len(text) || text[begin] != '{' && text[begin] != '[' {
		return 0, false
	}
	open := text[begin]
	depth, inString := 0, false
	for i := begin; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == open:
			depth++
		case c == open+2: // } follows { by two in ASCII, as ] follows [
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}
