package notation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// closer is the quote that ends the text that begins here, or empty.
func (p *literal) closer() string {
	for _, quotes := range [...][2]string{{`"`, `"`}, {"'", "'"}, {"“", "”"}} {
		if strings.HasPrefix(p.s[p.i:], quotes[0]) {
			return quotes[1]
		}
	}
	return ""
}

// peekText reports whether the next thing is a text in quotes.
func (p *literal) peekText() bool {
	p.blank()
	return p.closer() != ""
}

// text reads a text in quotes.
func (p *literal) text() (json string, ok bool) {
	p.blank()
	closer := p.closer()
	if closer == "" {
		return "", false
	}
	body := p.s[p.i+len(closer):] // both quotes of a pair are as long
	end := 0
	for end < len(body) && !strings.HasPrefix(body[end:], closer) {
		if body[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(body) {
		p.i = len(p.s)
		return "", false
	}
	p.i += end + 2*len(closer)
	body = body[:end]
	if closer == `"` && valid(`"`+body+`"`, 1) {
		return `"` + body + `"`, true
	}
	if closer == "'" && strings.Contains(strings.ReplaceAll(body, `\'`, ""), `\`) {
		return "", false // between such quotes, some write texts as they are
	}
	return rewritten(body)
}

// rewritten is the JSON text that body is between such quotes. What programs write as \' is an
// apostrophe there, unless others stand beside it as they are: then a shell may have to see it.
func rewritten(body string) (json string, ok bool) {
	var b strings.Builder
	bare, escaped := false, false
	b.WriteByte('"')
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case strings.HasPrefix(body[i:], `\'`):
			escaped = true
			b.WriteByte('\'')
			i++
		case c == '\\':
			b.WriteString(body[i : i+2])
			i++
		case c == '"':
			b.WriteString(`\"`)
		default:
			bare = bare || c == '\''
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String(), !(bare && escaped) && !strings.ContainsAny(body, "“”") && valid(b.String(), 1)
}

// Contracted reports whether text writes an apostrophe between letters as \', as a shell does, too:
// it\'s.
func Contracted(text string) bool {
	for rest := text; ; {
		before, after, found := strings.Cut(rest, `\'`)
		if !found {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if unicode.IsLetter(last) && unicode.IsLetter(next) {
			return true
		}
		rest = after
	}
}
