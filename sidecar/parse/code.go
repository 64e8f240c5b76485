package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools/callcode"
)

// readCode reads NAME(key=value, …), NAME{json}, or a list of such calls.
func (t *text) readCode(v string, i int, eof bool) (block, verdict) {
	list := v[i] == '['
	var end, behind int
	if list || len(t.closers) == 0 {
		end = callcode.End(v, i, list)
		behind = end
	} else {
		var n int
		end, n = t.closingCode(v, i, eof)
		behind = end + n
	}
	switch {
	case end < 0 && !eof:
		return block{}, wait
	case end < 0 && !callcode.Begins(v[i:]):
		return block{end: len(v)}, no
	case end < 0:
		return block{end: len(v), truncated: true}, yes
	}
	if list {
		var is verdict
		if behind, is = t.closed(v, end, eof); is == wait {
			return block{}, wait
		}
	}
	found, ok := callcode.Calls(strings.Clone(v[i:end]))
	if !ok {
		return block{end: behind}, no
	}
	return block{calls: found, end: behind}, yes
}

// closingCode finds the literal that closes code: outside brackets, and quotes in
// them. At the end of the reply the first one will do.
func (t *text) closingCode(v string, i int, eof bool) (at, n int) {
	for at = i; at >= 0 && at < len(v); {
		switch n, is := scan.StartsAnyFold(v[at:], t.closers, eof); {
		case is == yes:
			return at, n
		case is == wait:
			return -1, 0
		case strings.IndexByte("([{", v[at]) >= 0:
			at = callcode.End(v, at, true)
		default:
			at++
		}
	}
	if eof {
		return t.closing(v, i, eof)
	}
	return -1, 0
}
