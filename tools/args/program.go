package args

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// inProgram reads an object of a programming language: {path = "a"}, ['path' => 'a'], read(path="a").
// Every text must have unambiguous quotes.
func inProgram(x *Text) []Reading {
	p := literal{s: strings.TrimRight(unfenced(Bare(x.string)), "; \n")}
	json, ok := p.root()
	p.blank()
	if !ok || p.i < len(p.s) || !strings.HasPrefix(json, "{") || json == x.string || !valid(json, x.depth) {
		return nil
	}
	return []Reading{{Text: json}}
}

// literal is a text, read in one pass.
type literal struct {
	s       string
	i       int
	depth   int // current nesting
	members int // of the object read last
}

var typed = regexp.MustCompile(`^map\[string\](?:any|string|interface\{\})\s*\{`)

func (p *literal) root() (json string, ok bool) {
	if m := typed.FindString(p.s); m != "" {
		p.i = len(m)
		return p.entries('}')
	}
	p.take("await ")
	if p.take("(") { // of a call that lost its name
		return p.entries(')')
	}
	name := p.word()
	if name == "" || p.peek() != '(' && !strings.HasPrefix(p.s[p.i:], "!(") {
		p.i = 0
		return p.value()
	}
	macro := p.take("!")
	p.i++
	json, ok = p.entries(')')
	if inner, one := strings.CutPrefix(json, "[{"); ok && one {
		json = "{" + strings.TrimSuffix(inner, "]")
	}
	switch {
	case !ok, macro, isType(name), json == "[]":
		return json, ok && json != "[]"
	}
	return named(name, json), strings.HasPrefix(json, "{") // arguments without names are none
}

// isType reports whether a name before parentheses constructs an object instead of calling.
func isType(name string) bool {
	switch strings.ToLower(name) {
	case "dict", "array", "object", "hash", "map", "object.freeze", "object.entries", "object.fromentries",
		"json.stringify", "json.parse", "json.dumps", "json.loads", "json_encode", "json_decode":
		return true
	}
	return false
}

func (p *literal) value() (json string, ok bool) {
	switch c := p.peek(); {
	case p.closer() != "":
		return p.text()
	case c == '{' || c == '[':
		p.i++
		return p.entries(c + 2) // } follows { by two in ASCII, as ] follows [
	case c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9':
		begin := p.i
		for p.i < len(p.s) && inNumber(p.s[p.i]) {
			p.i++
		}
		return jsontext.Numeral(p.s[begin:p.i])
	}
	if c := p.peek(); c == '(' {
		p.i++
		json, ok = p.text()
		if ok {
			json, ok = p.joined(json, true)
		}
		return json, ok && p.take(")")
	}
	if json, ok = p.prefixed(); ok {
		return json, true
	}
	switch p.word() {
	case "true", "True", "TRUE":
		return "true", true
	case "false", "False", "FALSE":
		return "false", true
	case "null", "None", "nil", "NULL", "undefined", "NaN":
		return "null", true
	}
	return "", false
}

// entries reads members or elements up to closer.
func (p *literal) entries(closer byte) (json string, ok bool) {
	if p.depth++; p.depth > jsontext.MaxDepth {
		return "", false
	}
	defer func() { p.depth-- }()
	var b strings.Builder
	members, elements := 0, 0
	for p.peek() != closer {
		if members+elements > 0 {
			b.WriteByte(',')
		}
		key, named := p.key()
		if named {
			members++
			b.WriteString(key + ":")
		} else {
			elements++
		}
		text := p.peekText()
		json, ok := p.value()
		if ok && named && text {
			json, ok = p.joined(json, false)
		}
		if b.WriteString(json); !ok {
			return "", false
		}
		if !p.take(",") && !p.take(";") && p.peek() != closer {
			return "", false
		}
	}
	p.i++
	p.members = members
	switch {
	case members > 0 && elements == 0, members+elements == 0 && closer == '}':
		return "{" + b.String() + "}", true
	case members == 0 && closer != '}':
		return "[" + b.String() + "]", true
	}
	return "", false
}

// key reads a key and its sign, or nothing without the sign.
func (p *literal) key() (json string, ok bool) {
	p.blank()
	begin := p.i
	inBrackets := p.take("[") // as in Lua
	if p.closer() != "" {
		json, ok = p.text()
	} else if word := p.word(); word != "" {
		json, ok = `"`+word+`"`, true
	}
	if ok && inBrackets {
		ok = p.take("]")
	}
	if ok && (p.take("=>") || p.take(":=") || p.take(":") || p.take("=")) {
		return json, true
	}
	p.i = begin
	return "", false
}

func (p *literal) blank() {
	for p.i < len(p.s) && strings.IndexByte(" \n\t\r", p.s[p.i]) >= 0 {
		p.i++
	}
}

// at returns the next byte, or 0 at the end; peek the next one that is no blank.
func (p *literal) at() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *literal) peek() byte {
	p.blank()
	return p.at()
}

func (p *literal) take(sign string) bool {
	p.blank()
	found := strings.HasPrefix(p.s[p.i:], sign)
	if found {
		p.i += len(sign)
	}
	return found
}

// word reads a name.
func (p *literal) word() string {
	p.blank()
	word := scan.Name(p.s[p.i:])
	p.i += len(word)
	return word
}

// closer returns the quote that ends the text here, or "".
func (p *literal) closer() string {
	for _, quotes := range [...][2]string{{`"`, `"`}, {"'", "'"}, {"“", "”"}} {
		if strings.HasPrefix(p.s[p.i:], quotes[0]) {
			return quotes[1]
		}
	}
	return ""
}

// peekText reports whether a quoted text follows.
func (p *literal) peekText() bool {
	p.blank()
	return p.closer() != ""
}

// text reads a quoted text.
func (p *literal) text() (json string, ok bool) {
	p.blank()
	closer := p.closer()
	if closer == "" {
		return "", false
	}
	body := p.s[p.i+len(closer):] // both quotes of a pair have one length
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
		return "", false // between such quotes, some write texts unescaped
	}
	return rewritten(body)
}

// rewritten returns the JSON text for body between such quotes. An escaped \' is an apostrophe, unless
// others are unescaped: the backslash may then be for a shell.
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

// Contracted reports whether text escapes an apostrophe between letters, as a shell also does: it\'s.
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

// prefixed reads a text with a prefix in front of its quotes: r"…", @"…", u"…". It fails without one, or
// if the text is ambiguous.
func (p *literal) prefixed() (json string, ok bool) {
	n := strings.IndexAny(p.s[p.i:min(len(p.s), p.i+len("r##")+1)], "\"'")
	if n <= 0 {
		return "", false
	}
	prefix, quote := p.s[p.i:p.i+n], p.s[p.i+n:p.i+n+1]
	body := p.s[p.i+n+1:]
	closer, hashes := quote, strings.Trim(prefix, "r")
	raw := true
	switch strings.ToLower(prefix) {
	case "r", "rb", "br", "@":
	case "r#", "r##":
		closer += hashes
	case "u", "u8", "b", "l", "f", "$":
		raw = false
	default:
		return "", false
	}
	if !raw {
		begin := p.i + n
		p.i = begin
		json, ok = p.text()
		formats := prefix == "f" || prefix == "F" || prefix == "$"
		if ok = ok && (!formats || !strings.ContainsAny(p.s[begin:p.i], "{}")); !ok {
			p.i = begin - n
		}
		return json, ok
	}
	end := p.rawEnd(body, closer, prefix == "@")
	// three of them are another quote
	if end < 0 || prefix != "@" && hashes == "" && strings.Contains(body[:end], "\n") || hashes == "" &&
		strings.HasPrefix(body[end:], closer+closer) {
		p.i = len(p.s)
		return "", false
	}
	p.i += n + 1 + end + len(closer)
	if body = body[:end]; prefix == "@" {
		body = strings.ReplaceAll(body, `""`, `"`)
	}
	return jsontext.Quote(body), true
}

// rawEnd returns the end of a raw text, or -1 if a quote behind a backslash makes it ambiguous. In C#,
// two quotes are one.
func (p *literal) rawEnd(body, closer string, doubled bool) int {
	for from := 0; ; {
		n := strings.Index(body[from:], closer)
		if n < 0 {
			return -1
		}
		end := from + n
		switch {
		case doubled && strings.HasPrefix(body[end+len(closer):], closer):
			from = end + 2*len(closer)
		case end > 0 && body[end-1] == '\\' && len(closer) == 1:
			return -1
		default:
			return end
		}
	}
}

// joined reads the texts that continue one: behind a +, in parentheses, or on the next line. Elsewhere
// the quotes between may belong to one text.
func (p *literal) joined(json string, inParens bool) (string, bool) {
	for out := []byte(json); ; {
		from := p.i
		plus := p.take("+")
		p.blank()
		next := p.closer() != ""
		lined := strings.Contains(p.s[from:p.i], "\n") && bytes.HasSuffix(out, []byte(`\n"`))
		if !plus && (!next || !inParens && !lined) {
			p.i = from
			return string(out), true
		}
		more, ok := p.text()
		if p.blank(); !ok || p.at() == ':' || p.at() == '=' {
			return "", false
		}
		out = append(out[:len(out)-1], more[1:]...)
	}
}

// asArguments reads the arguments of a call: path="a", limit=3. A single one may be a remark.
func asArguments(x *Text) []Reading {
	p := literal{s: strings.TrimRight(unfenced(Bare(x.string)), "; \n") + ")"}
	json, ok := p.entries(')')
	if !ok || p.members < 2 || p.i < len(p.s) || !strings.HasPrefix(json, "{") || !valid(json, x.depth) {
		return nil
	}
	return []Reading{{Text: json}}
}

// MakesObject reports whether text is one object constructed from members: dict(a=1).
func MakesObject(text string) bool {
	p := literal{s: strings.TrimRight(text, "; \n")}
	p.take("new ")
	return isType(p.word()) && p.peek() == '(' && strings.HasSuffix(p.s, ")")
}
