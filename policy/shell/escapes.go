package shell

import (
	"strconv"
	"strings"
)

// unescape is the text of $'…'. It is not ok where that depends on the locale or on the
// version of bash.
func unescape(s string) (text string, ok bool) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, `\`)
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		if after == "" {
			return "", false
		}
		c := after[0]
		s = after[1:]
		if i := strings.IndexByte(`abeEfnrtv\'"?`, c); i >= 0 {
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[i])
			continue
		}
		rest, base, most := s, 16, map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if c >= '0' && c <= '7' {
			rest, base, most = after, 8, 3
		}
		n, rest := digits(rest, most, base)
		if n == 0 || n > 0x7e {
			return "", false
		}
		b.WriteByte(byte(n))
		s = rest
	}
}

// digits reads a number of at most so many digits from the start of a text.
func digits(s string, most, base int) (n uint64, rest string) {
	i := 0
	for i < most && i < len(s) {
		if _, err := strconv.ParseUint(s[i:i+1], base, 8); err != nil {
			break
		}
		i++
	}
	n, _ = strconv.ParseUint(s[:i], base, 64)
	return n, s[i:]
}
