package shell

import (
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
)

var escapes = lazyregexp.New(`(?s)\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.|$)`)

// unescape is the text of $'…'. It is not ok where that depends on the locale or on the
// version of bash.
func unescape(s string) (text string, ok bool) {
	ok = true
	text = escapes().ReplaceAllStringFunc(s, func(e string) string {
		if i := strings.Index(`abeEfnrtv\'"?`, e[1:]); i >= 0 && len(e) == 2 {
			return "\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[i : i+1]
		}
		digits, base := e[1:], 8
		if after, hex := strings.CutPrefix(digits, "x"); hex {
			digits, base = after, 16
		}
		n, err := strconv.ParseUint(digits, base, 16)
		ok = ok && err == nil && n > 0 && n < 0x7f
		return string(rune(n))
	})
	return text, ok
}
