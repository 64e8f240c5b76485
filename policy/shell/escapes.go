package shell

import (
	"strconv"
	"strings"
)

// dialect says which escapes a text may have.
type dialect uint8

const (
	echoEscapes   dialect = iota // of echo -e
	valueEscapes                 // of an argument for %b of printf
	formatEscapes                // of the format of printf
)

// unescape takes the escapes out of a text as bash does, which leaves those that it does
// not know as they are. It is not ok where bash complains. Stopped: \c ends all output.
func unescape(s string, d dialect) (text string, stopped, ok bool) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, `\`)
		b.WriteString(before)
		if !found || after == "" {
			if found {
				b.WriteByte('\\')
			}
			return b.String(), false, true
		}
		c := after[0]
		s = after[1:]
		if i := strings.IndexByte(`abeEfnrtv\`, c); i >= 0 {
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\"[i])
			continue
		}
		switch {
		case c == 'c' && d != formatEscapes:
			return b.String(), true, true
		case c == 'x' || c == 'u' || c == 'U':
			n, rest := digits(s, map[byte]int{'x': 2, 'u': 4, 'U': 8}[c], 16)
			if rest == s {
				return "", false, false
			}
			if s = rest; c == 'x' {
				b.WriteByte(byte(n))
			} else {
				b.WriteString(string(rune(n)))
			}
		case c == '0' && d != formatEscapes:
			n, rest := digits(s, 3, 8)
			b.WriteByte(byte(n))
			s = rest
		case c >= '0' && c <= '7' && d != echoEscapes:
			n, rest := digits(after, 3, 8)
			b.WriteByte(byte(n))
			s = rest
		case strings.IndexByte(`'"?`, c) >= 0 && d == formatEscapes:
			b.WriteByte(c)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
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
