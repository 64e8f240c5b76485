package parse

import (
	"strings"
)

// readCode reads NAME(key=value, …), NAME{json}, or a list of such calls.
func (t *text) readCode(v string, i int, eof bool) (block, verdict) {
	list := v[i] == '['
	var end, behind int
	if list || len(t.closers) == 0 {
		end = End(v, i, list)
		behind = end
	} else {
		var n int
		if end, n = Closing(v, i, t.closers, eof); end < 0 && eof {
			end, n = t.closing(v, i, eof) // the first one will do
		}
		behind = end + n
	}
	switch {
	case end < 0 && !eof:
		return block{}, wait
	case end < 0 && !BeginsCode(v[i:]):
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
	found, ok := CodeCalls(strings.Clone(v[i:end]))
	if !ok {
		return block{end: behind}, no
	}
	return block{calls: found, end: behind}, yes
}
