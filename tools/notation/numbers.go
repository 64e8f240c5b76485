package notation

import "github.com/jgavinray/gpt-oss-executor/internal/jsontext"

// numbers reads those that programs write outside of texts: 0xB4, 1_000, .5, 12., +3.
func numbers(s string) []string {
	text, ok := split(s, func(part string) (string, bool) {
		out := make([]byte, 0, len(part))
		for i := 0; i < len(part); {
			end := i
			for end < len(part) && inNumber(part[end]) {
				end++
			}
			if number, ok := jsontext.Numeral(part[i:end]); ok {
				out = append(out, number...)
			} else {
				end = max(end, i+1)
				out = append(out, part[i:end]...)
			}
			i = end
		}
		return string(out), true
	}, same)
	return only(text, s, ok)
}

// inNumber reports whether c can stand in a number, or in a word beside which none is one.
func inNumber(c byte) bool {
	return c-'0' <= 9 || c|0x20-'a' < 26 || c == '_' || c == '.' || c == '+' || c == '-' || c >= 0x80
}
