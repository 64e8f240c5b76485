package parse

import (
	"iter"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Call is a call as it is written. Args is a JSON object, possibly damaged.
type Call struct {
	Name, Args string
	Unsure     bool // its text was repaired, and may have meant other arguments
	Doubt      bool // text beside it may be about it: it may be an example
}

// codeCalls reads f(a=1), g({"b":2}) or a list of such calls.
func codeCalls(s string) (calls []Call, ok bool) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		s = s[1 : len(s)-1]
	}
	for _, part := range splitCode(s) {
		part = strings.TrimSpace(part)
		open := strings.IndexAny(part, "({")
		if open < 1 {
			return nil, false
		}
		name, inner := strings.TrimSpace(part[:open]), part[open:]
		if scan.Name(name) != name {
			return nil, false
		}
		if inner[0] == '(' {
			if !strings.HasSuffix(inner, ")") {
				return nil, false
			}
			inner = strings.TrimSpace(inner[1 : len(inner)-1])
		}
		if !strings.HasPrefix(inner, "{") {
			inner = keywordArgs(inner)
		}
		calls = append(calls, Call{Name: name, Args: inner})
	}
	return calls, len(calls) > 0
}

// keywordArgs turns a=1, b='x' into a JSON object, possibly damaged: Python literals are left to the
// JSON repair.
func keywordArgs(s string) string {
	if strings.TrimSpace(s) == "" {
		return "{}"
	}
	var members []string
	for _, part := range splitCode(s) {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return jsontext.Quote(s)
		}
		members = append(members, jsontext.Quote(strings.TrimSpace(key))+":"+strings.TrimSpace(value))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// splitCode splits at commas outside quotes and brackets.
func splitCode(s string) (parts []string) {
	from := 0
	for at, depth := range unquotedBytes(s, 0) {
		if s[at] == ',' && depth == 0 {
			parts = append(parts, s[from:at])
			from = at + 1
		}
	}
	if strings.TrimSpace(s[from:]) != "" || len(parts) == 0 {
		parts = append(parts, s[from:])
	}
	return parts
}

// codeEnd returns the offset behind the bracket that closes the first one in v[i:], or -1. Code that is
// no list ends with its line.
func codeEnd(v string, i int, list bool) int {
	for at, depth := range unquotedBytes(v, i) {
		switch b := v[at]; {
		case depth == 0 && strings.IndexByte(")]}", b) >= 0:
			return at + 1
		case b == '\n' && depth == 0 && !list:
			return at
		}
	}
	return -1
}

// unquotedBytes yields the offsets of the bytes in v[i:] outside quotes, with the bracket depth behind
// each.
func unquotedBytes(v string, i int) iter.Seq2[int, int] {
	return func(yield func(at, depth int) bool) {
		depth, quote := 0, byte(0)
		for ; i < len(v); i++ {
			switch b := v[i]; {
			case quote != 0:
				if b == '\\' {
					i++
				} else if b == quote {
					quote = 0
				}
				continue
			case b == '"' || b == '\'':
				quote = b
				continue
			case b == '(' || b == '[' || b == '{':
				depth++
			case b == ')' || b == ']' || b == '}':
				depth--
			}
			if !yield(i, depth) {
				return
			}
		}
	}
}

// beginsCode reports whether s begins with a call or a list of calls.
func beginsCode(s string) bool {
	s = strings.TrimLeft(strings.TrimPrefix(s, "["), " \t\r\n")
	n := len(scan.Name(s))
	return n > 0 && n < len(s) && (s[n] == '(' || s[n] == '{')
}

// readCode reads NAME(key=value, …), NAME{json}, or a list of such calls.
func (t *text) readCode(v string, i int, eof bool) (block, verdict) {
	list := v[i] == '['
	var end, behind int
	if list || len(t.closers) == 0 {
		end = codeEnd(v, i, list)
		behind = end
	} else {
		var n int
		if end, n = closingLiteral(v, i, t.closers, eof); end < 0 && eof {
			end, n = t.closing(v, i, eof) // the first one will do
		}
		behind = end + n
	}
	switch {
	case end < 0 && !eof:
		return block{}, wait
	case end < 0 && !beginsCode(v[i:]):
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
	found, ok := codeCalls(strings.Clone(v[i:end]))
	if !ok {
		return block{end: behind}, no
	}
	return block{calls: found, end: behind}, yes
}

// closingLiteral finds a literal of n bytes that closes the code at v[i:], outside brackets. at is -1 if
// there is none yet.
func closingLiteral(v string, i int, closers []string, eof bool) (at, n int) {
	for at = i; at >= 0 && at < len(v); {
		switch n, is := scan.StartsAnyFold(v[at:], closers, eof); {
		case is == yes:
			return at, n
		case is == wait:
			return -1, 0
		case strings.IndexByte("([{", v[at]) >= 0:
			at = codeEnd(v, at, true)
		default:
			at++
		}
	}
	return -1, 0
}
