package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Closing finds a literal that closes the code at v[i:]: outside brackets, and quotes in them.
// n is how long it is; at is -1 where none stands, or not yet.
func Closing(v string, i int, closers []string, eof bool) (at, n int) {
	for at = i; at >= 0 && at < len(v); {
		switch n, is := scan.StartsAnyFold(v[at:], closers, eof); {
		case is == scan.Yes:
			return at, n
		case is == scan.Wait:
			return -1, 0
		case strings.IndexByte("([{", v[at]) >= 0:
			at = End(v, at, true)
		default:
			at++
		}
	}
	return -1, 0
}
