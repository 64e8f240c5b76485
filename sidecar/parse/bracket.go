package parse

import (
	"strings"
)

// readBracket reads NAME], NAME|key=value|…] or NAME] {json}. from is behind the
// opening literal.
func (t *text) readBracket(v string, from int, eof bool) (block, verdict) {
	const longest = 128 // of a name
	i := strings.IndexAny(v[from:min(len(v), from+longest+1)], "|]\n")
	if i < 0 {
		if eof || len(v)-from > longest {
			return block{end: len(v), truncated: eof}, verdictIf(eof)
		}
		return block{}, wait
	}
	i += from
	name := strings.TrimSpace(v[from:i])
	switch {
	case v[i] == '\n' || name == "":
		return block{}, no
	case v[i] == '|':
		return t.readPairs(v, name, i+1, eof)
	}
	j := skipSpace(v, i+1)
	if j == len(v) && !eof {
		return block{}, wait
	}
	if j == len(v) || v[j] != '{' {
		return block{calls: []rawCall{{name, "{}"}}, end: i + 1}, yes
	}
	t.scan.at = max(t.scan.at, j)
	if !t.scan.run(v, false, eof) {
		if !eof {
			return block{}, wait
		}
		return block{end: len(v), truncated: true}, yes
	}
	b := block{calls: []rawCall{{name, strings.Clone(v[j:t.scan.end])}}, end: t.scan.end, alone: true}
	for _, c := range t.open.st.Close {
		k := skipSpace(v, b.end)
		if is, more := hasFold(v[k:], c); is {
			b.end = k + len(c)
			break
		} else if more && !eof {
			return block{}, wait
		}
	}
	return b, yes
}

func verdictIf(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// readPairs reads key=value|key=value up to the bracket that closes the block.
// Quotes and inner brackets protect what is between them.
func (t *text) readPairs(v, name string, from int, eof bool) (block, verdict) {
	end, depth := -1, 0
	quote := byte(0)
	for i := from; i < len(v); i++ {
		switch b := v[i]; {
		case quote != 0:
			if b == quote && v[i-1] != '\\' {
				quote = 0
			}
		case (b == '"' || b == '\'') && i > 0 && v[i-1] == '=':
			quote = b
		case b == '[':
			depth++
		case b == ']':
			if depth == 0 {
				end = i
			}
			depth--
		}
		if end >= 0 {
			break
		}
	}
	if end < 0 {
		if !eof {
			return block{}, wait
		}
		// A quote or bracket that never closes: the last bracket ends the block.
		if end = strings.LastIndexByte(v, ']'); end < from {
			return block{end: len(v), truncated: true}, yes
		}
	}
	args := []byte{'{'}
	for i, p := range t.pairs(name, v[from:end]) {
		if i > 0 {
			args = append(args, ',')
		}
		args = appendQuoted(args, p[0])
		args = append(args, ':')
		args = appendQuoted(args, p[1])
	}
	return block{calls: []rawCall{{name, string(append(args, '}'))}}, end: end + 1}, yes
}

// pairs splits key=value|key=value. A bar that no key follows is part of the
// value before it.
func (t *text) pairs(name, s string) (out [][2]string) {
	for _, part := range strings.Split(s, "|") {
		key, value, ok := strings.Cut(part, "=")
		key = strings.TrimSpace(key)
		if ok && key != "" && strings.IndexFunc(key, func(r rune) bool { return r < 0x80 && !isName(byte(r)) }) < 0 &&
			(len(out) == 0 || t.r.c.Param(name, key)) {
			out = append(out, [2]string{key, value})
			continue
		}
		if n := len(out); n > 0 {
			out[n-1][1] += "|" + part
		}
	}
	for i := range out {
		out[i][1] = unquote(strings.TrimSpace(out[i][1]))
	}
	return out
}

// unquote removes the quotes around a value.
func unquote(s string) string {
	if n := len(s); n > 1 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}
