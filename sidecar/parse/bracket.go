package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// longestName is how long a name in brackets may be; OpenClaw reads as many.
const longestName = 120

// endRequest closes a named call in the grammar of OpenClaw.
const endRequest = "[END_TOOL_REQUEST]"

// namedStart looks for [NAME], a line break and an object at the start of a line.
// OpenClaw runs such text by itself: read here, it is checked like any other call.
func (t *text) namedStart(v string, j int, eof bool) (opening, verdict) {
	named := t.r.s.named
	if named == nil || v[j] != '[' || !t.lineStart(v, j) {
		return opening{}, no
	}
	short := scan.WaitUnless(eof)
	i := scan.NameEnd(v, j+1)
	switch {
	case i == len(v):
		return opening{}, short
	case v[i] != ']' || !t.r.c.Exact(v[j+1:i]):
		return opening{}, no
	}
	line := scan.SkipBlanks(v, i+1)
	brace := scan.SkipSpace(v, line)
	switch {
	case line < len(v) && v[line] != '\n' && v[line] != '\r':
		return opening{}, no
	case brace == len(v):
		return opening{}, short
	case v[brace] != '{':
		return opening{}, no
	}
	return opening{n: 1, begin: named.begin}, yes
}

// readBracket reads NAME], NAME|key=value|…] or NAME] {json}. from is behind the
// opening literal.
func (t *text) readBracket(v string, from int, eof bool) (block, verdict) {
	head := v[from:min(len(v), from+longestName+1)]
	i := strings.IndexAny(head, "|]\n")
	if i < 0 {
		switch {
		case len(head) > longestName:
			return block{end: from + len(head)}, no
		case eof:
			return block{end: len(v), truncated: true}, yes
		}
		return block{}, wait
	}
	name := strings.TrimSpace(head[:i])
	switch i += from; {
	case v[i] == '\n' || name == "":
		return block{end: i}, no
	case v[i] == '|':
		return t.readPairs(v, name, i+1, eof)
	}
	j := scan.SkipSpace(v, i+1)
	switch {
	case j == len(v) && !eof:
		return block{}, wait
	case j == len(v) || v[j] != '{':
		return block{calls: []Call{{Name: name, Args: "{}"}}, end: i + 1}, yes
	}
	t.scan.At = max(t.scan.At, j)
	switch {
	case t.scan.Run(v, eof):
	case eof:
		return block{end: len(v), truncated: true}, yes
	default:
		return block{}, wait
	}
	args := strings.Clone(v[j:t.scan.End])
	end, is := t.closed(v, t.scan.End, eof, endRequest, "[/"+name+"]")
	if is == wait {
		return block{}, wait
	}
	return block{calls: []Call{{Name: name, Args: args}}, end: end}, yes
}

// readPairs reads key=value|key=value up to the bracket that closes the block.
func (t *text) readPairs(v, name string, from int, eof bool) (block, verdict) {
	end := PairsEnd(v, from)
	if end < 0 {
		if !eof {
			return block{}, wait
		}
		// A quote or bracket that never closes: the last bracket ends the block.
		if end = strings.LastIndexByte(v, ']'); end < from {
			return block{end: len(v), truncated: true}, yes
		}
	}
	args, unsure := Split(v[from:end], func(key string) bool { return t.r.c.Param(name, key) })
	return block{calls: []Call{{Name: name, Args: args, Unsure: unsure}}, end: end + 1}, yes
}
