package parse

import (
	"strings"
)

// readCode reads NAME(key=value, …), NAME{json}, or a list of such calls.
func (t *text) readCode(v string, i int, eof bool) (block, verdict) {
	end, n := t.closing(v, i)
	list := v[i] == '['
	if end < 0 && !list && len(t.open.st.Close) > 0 && !eof {
		return block{}, wait
	}
	if end < 0 {
		scan := codeScan{}
		if end = scan.end(v, i, list); end < 0 {
			if !eof {
				return block{}, wait
			}
			return block{end: len(v), truncated: true}, yes
		}
	}
	calls, ok := codeCalls(strings.Clone(v[i:end]))
	if !ok {
		return block{}, no
	}
	return block{calls: calls, end: end + n, alone: true}, yes
}

// codeScan finds the end of code: the bracket that closes the first one.
type codeScan struct{}

func (codeScan) end(v string, i int, list bool) int {
	depth := 0
	quote := byte(0)
	for ; i < len(v); i++ {
		switch b := v[i]; {
		case quote != 0:
			if b == '\\' {
				i++
			} else if b == quote {
				quote = 0
			}
		case b == '"' || b == '\'':
			quote = b
		case b == '(' || b == '[' || b == '{':
			depth++
		case b == ')' || b == ']' || b == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case b == '\n' && depth == 0 && !list:
			return -1
		}
	}
	return -1
}

// codeCalls reads f(a=1), g({"b":2}) or a list of such calls.
func codeCalls(s string) (calls []rawCall, ok bool) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		s = s[1 : len(s)-1]
	}
	for _, part := range splitCode(s, ',') {
		part = strings.TrimSpace(part)
		open := strings.IndexAny(part, "({")
		if open < 1 {
			return nil, false
		}
		name, inner := strings.TrimSpace(part[:open]), part[open:]
		if inner[0] == '(' {
			if !strings.HasSuffix(inner, ")") {
				return nil, false
			}
			inner = strings.TrimSpace(inner[1 : len(inner)-1])
		}
		if !strings.HasPrefix(inner, "{") {
			inner = keywordArgs(inner)
		}
		calls = append(calls, rawCall{name, inner})
	}
	return calls, len(calls) > 0
}

// keywordArgs makes a JSON object, possibly damaged, of a=1, b='x'. The repair
// layer reads the values: Python's literals are among what it mends.
func keywordArgs(s string) string {
	if strings.TrimSpace(s) == "" {
		return "{}"
	}
	args := []byte{'{'}
	for i, part := range splitCode(s, ',') {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return string(appendQuoted(nil, s))
		}
		if i > 0 {
			args = append(args, ',')
		}
		args = appendQuoted(args, strings.TrimSpace(key))
		args = append(args, ':')
		args = append(args, strings.TrimSpace(value)...)
	}
	return string(append(args, '}'))
}

// splitCode splits at sep outside quotes and brackets.
func splitCode(s string, sep byte) (parts []string) {
	depth, from := 0, 0
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case quote != 0:
			if b == '\\' {
				i++
			} else if b == quote {
				quote = 0
			}
		case b == '"' || b == '\'':
			quote = b
		case b == '(' || b == '[' || b == '{':
			depth++
		case b == ')' || b == ']' || b == '}':
			depth--
		case b == sep && depth == 0:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	if strings.TrimSpace(s[from:]) != "" || len(parts) == 0 {
		parts = append(parts, s[from:])
	}
	return parts
}
