package jsonrepair

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// writeString writes text[from:to] as the content of a JSON string in quotes.
func (m *mender) writeString(from, to int) {
	m.out = append(m.out, '"')
	literal := pathRun{to: from}
	m.unescaped = m.strange(from, to)
	for i := from; i < to; {
		run := i
		for i < to && plainByte[m.text[i]] {
			i++
		}
		m.out = append(m.out, m.text[run:i]...)
		if i == to {
			break
		}
		switch c := m.text[i]; c {
		case '"':
			m.escape(i, `\"`)
			i++
		case '\\':
			i += m.backslash(i, from, to, &literal)
		default:
			if c == '\n' {
				m.escapes |= rawLines
			}
			m.escape(i, controlEscapes[c])
			i++
		}
	}
	m.work += to - from
	m.out = append(m.out, '"')
}

// escape writes to for the byte at i.
func (m *mender) escape(i int, to string) {
	m.note(KindEscape, i, m.text[i:i+1], to)
	m.out = append(m.out, to...)
}

// backslash writes the escape at i, in a string from from to to, and returns its length. An unknown one
// keeps its backslash, as \d in a pattern and \$ in a shell line need it; only \' is a quote. \$ is in
// doubt, as $ alone has a meaning, too.
func (m *mender) backslash(i, from, to int, run *pathRun) int {
	rest := m.text[i:to]
	if m.inPath(i, from, to, run) && !strings.HasPrefix(rest, `\\`) {
		m.doubt()
		m.escape(i, `\\`)
		return 1
	}
	n := jsontext.Escape(m.doc[i:to])
	if n == 2 && m.unescaped && strings.IndexByte("bf", rest[1]) >= 0 {
		n = 0
	}
	switch {
	case n > 0:
		m.escapes.add(rest[:n], jsonEscapes)
		if rest[1] == 'n' {
			m.escapes |= writtenLines
		}
		m.out = append(m.out, rest[:n]...)
		return n
	case to == len(m.text) && cutEscape(rest):
		m.note(KindEscape, i, rest, "")
		m.cut = MidValue
		return len(rest)
	case strings.HasPrefix(rest, `\'`) || strings.HasPrefix(rest, "\\`"):
		m.doubt()
		m.note(KindEscape, i, rest[:2], rest[1:2])
		m.out = append(m.out, rest[1])
		return 2
	}
	if strings.HasPrefix(rest, `\$`) || strings.HasPrefix(rest, `\u{`) || strings.HasPrefix(rest, `\U00`) ||
		strings.HasPrefix(rest, `\_`) {
		m.doubt() // an escape of another language or of Markdown, or the text's own
	}
	m.escapes |= strangeEscapes
	m.escape(i, `\\`)
	return 1
}

// strange reports whether text[from:to] contains an escape unknown to JSON. Then \b and \f are literal,
// too: models write no backspace and no form feed, but a pattern has \bfunc\s+.
func (m *mender) strange(from, to int) bool {
	for i := from; ; i += 2 {
		n := strings.IndexByte(m.text[min(i, to):to], '\\')
		if n < 0 {
			return false
		}
		if i += n; jsontext.Escape(m.doc[i:to]) == 0 {
			return true
		}
	}
}

// cutEscape reports whether s, the end of the text, begins an escape.
func cutEscape(s string) bool {
	const whole = `\u0000`
	return len(s) < len(whole) && jsontext.Escape([]byte(s+whole[len(s):])) == len(whole)
}

// pathRun is a checked part of a string that may be a Windows path.
type pathRun struct {
	to      int  // its end
	literal bool // its backslashes separate folders
}

// inPath reports whether the backslash at i separates two folders: its run begins like C:\ and contains
// an unknown escape, as in C:\new\Users.
func (m *mender) inPath(i, from, to int, run *pathRun) bool {
	if i < run.to {
		return run.literal
	}
	if i < from+2 || m.text[i-1] != ':' || m.text[i-2]|0x20-'a' >= 26 ||
		i > from+2 && isWordByte(m.text[i-3]) {
		return false
	}
	*run = pathRun{to: i}
	for run.to < to && m.text[run.to] >= ' ' && strings.IndexByte(`"'<>|*?`, m.text[run.to]) < 0 {
		n := 1
		if m.text[run.to] == '\\' {
			if n = jsontext.Escape(m.doc[run.to:to]); n == 0 {
				n, run.literal = 1, true
			}
		}
		run.to += n
	}
	m.work += run.to - i
	return run.literal
}

// controlEscapes are the escapes of the bytes below 0x20.
var controlEscapes = func() (t [0x20]string) {
	for c := range t {
		quoted := jsontext.AppendString(nil, string(rune(c)))
		t[c] = string(quoted[1 : len(quoted)-1])
	}
	return t
}()

// unescapeRoot removes one level of escaping if all of the text was escaped, as in {\"a\": 1}. If only
// the first quotation mark was and the rest is valid, that one is repaired; other mixtures are in doubt.
func (m *mender) unescapeRoot() {
	start := strings.TrimLeft(m.text, asciiSpace)
	if start != "" && (start[0] == '{' || start[0] == '[') {
		start = strings.TrimLeft(start[1:], asciiSpace)
		for len(start) > 1 && start[0] == '\\' && strings.IndexByte("nrt", start[1]) >= 0 {
			start = strings.TrimLeft(start[2:], asciiSpace)
		}
	}
	from, at := m.text, len(m.text)-len(start)
	for _, quote := range [...]string{`\u0022`, `\x22`} { // only these were
		if strings.HasPrefix(start, quote) {
			m.text, m.unsure = strings.ReplaceAll(from, quote, `"`), bareQuote(from) ||
				strings.Contains(from, `\`+quote)
			m.note(KindEscape, at, from[at:], m.text[at:])
			return
		}
	}
	if !strings.HasPrefix(start, `\"`) {
		return
	}
	m.text = from[:at] + start[1:]
	if end := validEnd([]byte(m.text), 0, m.maxDepth); end < 0 ||
		strings.Trim(m.text[end:], asciiSpace) != "" {
		m.text = unescaper.Replace(from)
		m.unsure = bareQuote(from)
	}
	m.note(KindEscape, at, from[at:], m.text[at:])
}

// bareQuote reports whether text contains an unescaped quotation mark.
func bareQuote(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return true
		}
	}
	return false
}

var unescaper = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\/`, `/`, `\n`, "\n", `\r`, "\r", `\t`, "\t")
