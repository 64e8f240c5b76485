package parse

import (
	"iter"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Call is one of them. Args is a JSON object, possibly damaged.
type Call struct {
	Name, Args string
	Unsure     bool // the text that it comes from was mended, and may have meant others
	Doubt      bool // what is said beside it may be about it: it need not be meant
}

// Calls reads f(a=1), g({"b":2}) or a list of such calls.
func CodeCalls(s string) (calls []Call, ok bool) {
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

// keywordArgs makes a JSON object, possibly damaged, of a=1, b='x'. The repair
// layer reads the values: Python's literals are among what it mends.
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
	for at, depth := range bare(s, 0) {
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

// End is the offset behind the bracket that closes the first one of code, or
// -1. Code that is no list ends with its line.
func End(v string, i int, list bool) int {
	for at, depth := range bare(v, i) {
		switch b := v[at]; {
		case depth == 0 && strings.IndexByte(")]}", b) >= 0:
			return at + 1
		case b == '\n' && depth == 0 && !list:
			return at
		}
	}
	return -1
}

// bare yields the bytes of code from i on that stand outside quotes, and how many brackets
// are open behind each.
func bare(v string, i int) iter.Seq2[int, int] {
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

// Begins says whether s begins with a call, or a list of them.
func BeginsCode(s string) bool {
	s = strings.TrimLeft(strings.TrimPrefix(s, "["), " \t\r\n")
	n := len(scan.Name(s))
	return n > 0 && n < len(s) && (s[n] == '(' || s[n] == '{')
}

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

// Closing finds a literal that closes the code at v[i:]: outside brackets, and quotes in them.
// n is how long it is; at is -1 where none stands, or not yet.
func Closing(v string, i int, closers []string, eof bool) (at, n int) {
	for at = i; at >= 0 && at < len(v); {
		switch n, is := scan.StartsAnyFold(v[at:], closers, eof); {
		case is == yes:
			return at, n
		case is == wait:
			return -1, 0
		case strings.IndexByte("([{", v[at]) >= 0:
			at = End(v, at, true)
		default:
			at++
		}
	}
	return -1, 0
}
