package parse

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Type is the key of the type name of a printed object.
const Type = "@type"

// Value is a printed value.
type Value struct {
	Doc     string // JSON; several values are a list
	Many    bool   // several values
	Foreign bool   // printed by a program: no JSON
	At      int    // its end; if there is no value, the byte that shows it
}

// FirstKeys are the keys, one of which a printed value has first.
type FirstKeys []string

// Begins reports whether s begins with a value that is no JSON: a constructor, fields, an event, or a
// list of tokens. JSON is known by its first byte.
func (k FirstKeys) Begins(s string, eof bool) verdict {
	short := scan.WaitUnless(eof)
	switch {
	case len(k) == 0:
		return no
	case s == "":
		return short
	case s[0] == '[' || s[0] == '(':
		i := scan.SkipSpace(s, 1)
		if i == len(s) {
			return short
		}
		if s[i] == '\'' || s[i] == '"' && s[0] == '(' {
			return scan.Starts(s[i+1:], "<|", eof)
		}
		return k.constructed(s[i:], short)
	}
	return max(scan.Starts(s, "data: {", eof), k.constructed(s, short))
}

// fieldValueStart are the first bytes of a field's value.
const fieldValueStart = "'\"[{<NTF-0123456789"

// constructed looks for a name and the first field: Message(role=, Message { role:, or a field alone.
func (k FirstKeys) constructed(s string, short verdict) verdict {
	end := printedNameEnd(s, 0)
	name := s[:end]
	switch {
	case name == "":
		return no
	case scan.IsLower(name[0]):
		switch is := k.key(s, '=', short); {
		case is != yes:
			return is
		case end+1 == len(s):
			return short
		}
		return scan.When(strings.IndexByte(fieldValueStart, s[end+1]) >= 0)
	case !isUpper(name):
		return no
	case end == len(s), end+1 == len(s) && s[end] == ' ':
		return short
	case s[end] == '(' && (name == "Some" || name == "Ok"):
		if s = s[end+1:]; s == "" {
			return short
		}
		return k.constructed(s, short)
	case s[end] == '(':
		return k.key(s[end+1:], '=', short)
	case s[end] == '{', strings.HasPrefix(s[end:], " {"):
		return k.key(s[end+strings.IndexByte(s[end:], '{')+1:], ':', short)
	}
	return no
}

// key looks for one of the keys and the sign behind it. It allocates nothing, as it runs for each line
// of a reply.
func (k FirstKeys) key(s string, sign byte, short verdict) verdict {
	s = s[scan.SkipSpace(s, 0):]
	end := 0
	for end < len(s) && scan.IsWord(s[end]) {
		end++
	}
	if end < len(s) {
		return scan.When(s[end] == sign && scan.Among(s[:end], k))
	}
	for _, key := range k {
		if strings.HasPrefix(key, s) {
			return short
		}
	}
	return no
}

// Read reads text, which is one printed value. It returns no if it is none, wait if it may continue, and
// yes, with eof only, if it is whole. depth bounds the nesting.
func (k FirstKeys) Read(text string, depth int, eof bool) (v Value, is verdict) {
	p := printed{s: text, eof: eof, depth: depth}
	p.i = scan.SkipSpace(text, 0)
	switch begin := text[p.i:]; {
	case begin == "":
		return v, scan.WaitUnless(eof)
	case strings.HasPrefix(begin, "data:"):
		p.events()
	default:
		p.values()
	}
	v.Foreign = p.foreign
	v.At = p.i
	switch {
	case p.failed:
		return v, no
	case p.short, !eof:
		return v, scan.WaitUnless(eof)
	}
	v.Many, v.Doc = p.many > 1, string(p.out)
	if v.Many {
		v.Doc = "[" + v.Doc + "]"
	}
	return v, yes
}

// printed translates a text to JSON in one pass. Its methods return false where the text is none of the
// notations, or ends too early.
type printed struct {
	s       string
	i       int
	eof     bool
	depth   int // how much deeper values may nest
	out     []byte
	many    int  // values so far
	foreign bool // something is no JSON
	failed  bool // s[i:] fits none of the notations
	short   bool // the text ends too early
}

// fail stops at offset i, unless the text ended before.
func (p *printed) fail(i int) bool {
	if !p.short {
		p.failed, p.i = true, i
	}
	return false
}

// stopShort stops because the text ended.
func (p *printed) stopShort() bool {
	p.short = true
	return false
}

// skipBlank skips blanks and reports whether a byte follows.
func (p *printed) skipBlank() bool {
	p.i = scan.SkipSpace(p.s, p.i)
	return p.i < len(p.s) || p.stopShort()
}

// sign reads a sign behind blanks.
func (p *printed) sign(b byte) bool {
	switch {
	case !p.skipBlank():
		return false
	case p.s[p.i] != b:
		return p.fail(p.i)
	}
	p.i++
	return true
}

// separate writes a comma, unless the object or list is empty.
func (p *printed) separate() {
	if last := p.out[len(p.out)-1]; last != '{' && last != '[' {
		p.out = append(p.out, ',')
	}
}

// key writes a key, whose value follows.
func (p *printed) key(key string) {
	p.separate()
	p.out = append(jsontext.AppendString(p.out, key), ':')
}

// beginValue begins another value of the text.
func (p *printed) beginValue() {
	if p.many++; p.many > 1 {
		p.out = append(p.out, ',')
	}
}

// values reads all values of the text, one per line; or the fields of one.
func (p *printed) values() {
	if p.field() {
		p.foreign = true
		p.beginValue()
		p.fields()
		return
	}
	for ok := !p.short; ok; {
		before := p.i
		switch p.i = scan.SkipSpace(p.s, p.i); {
		case p.i == len(p.s):
			p.short = p.many == 0
			return
		case p.many > 0 && !strings.Contains(p.s[before:p.i], "\n"):
			p.fail(p.i)
			return
		}
		p.beginValue()
		ok = p.whole()
	}
}

// fields reads the fields of one value, separated by blanks: role='assistant' content=”
func (p *printed) fields() {
	p.out = append(p.out, '{')
	for first := true; ; first = false {
		if p.i = scan.SkipSpace(p.s, p.i); p.i == len(p.s) {
			p.short = !p.eof
			break
		}
		if !first && !scan.IsSpace(p.s[p.i-1]) {
			p.fail(p.i)
		}
		if p.failed || !p.member('=', true) {
			break
		}
	}
	p.out = append(p.out, '}')
}

// whole reads a value and keeps JSON as it is written.
func (p *printed) whole() bool {
	at, mark, before := p.i, len(p.out), p.foreign
	p.foreign = false
	ok := p.value()
	if raw := p.s[at:p.i]; ok && !p.foreign && gjson.Valid(raw) {
		p.out = append(p.out[:mark], raw...)
		p.foreign = before
	} else {
		p.foreign = true
	}
	return ok
}

// eventFields are the names of lines of an event; a comment has none.
var eventFields = []string{"", "data", "event", "id", "retry"}

// events reads the events of a stream.
func (p *printed) events() {
	for p.i = scan.SkipSpace(p.s, p.i); p.i < len(p.s); p.i = scan.SkipSpace(p.s, p.i) {
		line, _, whole := strings.Cut(p.s[p.i:], "\n")
		name, data, named := strings.Cut(line, ":")
		switch data = strings.TrimSpace(data); {
		case !whole && !p.eof:
			p.stopShort()
			return
		case !named || !scan.Among(name, eventFields):
			p.fail(p.i)
			return
		case name == "data" && data != "[DONE]":
			s := jsontext.Scanner{Doc: []byte(data), Depth: p.depth}
			if s.Skip(); s.End() != nil {
				p.fail(p.i)
				return
			}
			p.beginValue()
			p.out = append(p.out, data...)
		}
		p.i += len(line)
	}
}

// value reads one value.
func (p *printed) value() (ok bool) {
	if !p.skipBlank() {
		return false
	}
	if p.depth--; p.depth < 0 {
		return p.fail(p.i)
	}
	switch c := p.s[p.i]; {
	case c == '"' || c == '\'':
		var text string
		text, ok = p.quoted()
		p.out = jsontext.AppendString(p.out, text)
	case c == '{':
		ok = p.object("", '}')
	case c == '[':
		ok = p.list(']')
	case c == '(':
		p.foreign = true
		ok = p.list(')')
	case c == '<': // of <Role.ASSISTANT: 'assistant'>
		p.foreign = true
		p.i++
		ok = p.name() != "" && p.sign(':') && p.value() && p.sign('>')
	case c == '-' || c >= '0' && c <= '9':
		ok = p.number()
	default:
		ok = p.word()
	}
	p.depth++
	return ok
}

// number reads a number; a word that begins with a digit is none.
func (p *printed) number() bool {
	end, why := jsontext.Number(p.s, p.i)
	switch {
	case !p.eof && scan.SkipBytes(p.s, p.i, "0123456789+-.eE") == len(p.s):
		return p.stopShort()
	case why != "" || end < len(p.s) && scan.IsWord(p.s[end]):
		return p.fail(p.i)
	}
	p.out = append(p.out, p.s[p.i:end]...)
	p.i = end
	return true
}

// parts reads comma-separated parts behind a bracket, up to end.
func (p *printed) parts(end byte, part func() bool) bool {
	p.i++
	for p.skipBlank() {
		if p.s[p.i] == end {
			p.i++
			return true
		}
		if !part() || !p.comma(end) {
			return false
		}
	}
	return false
}

// comma reads the comma behind a part, which may be the last one, or leaves end.
func (p *printed) comma(end byte) bool {
	switch {
	case !p.skipBlank():
		return false
	case p.s[p.i] != ',':
		return p.s[p.i] == end || p.fail(p.i)
	}
	p.i++
	if !p.skipBlank() {
		return false
	}
	p.foreign = p.foreign || p.s[p.i] == end
	return true
}

// list reads the values in a list.
func (p *printed) list(end byte) bool {
	p.out = append(p.out, '[')
	ok := p.parts(end, func() bool {
		p.separate()
		return p.value()
	})
	p.out = append(p.out, ']')
	return ok
}

// object reads the members of an object: "key": value, key: value, key=value.
func (p *printed) object(name string, end byte) bool {
	sign := byte(':')
	if end == ')' {
		sign = '='
	}
	if p.out = append(p.out, '{'); name != "" {
		p.key(Type)
		p.out = jsontext.AppendString(p.out, name)
	}
	ok := p.parts(end, func() bool {
		if name != "" && end == '}' && p.s[p.i] == '.' { // Rust omits fields
			p.i++
			return p.sign('.')
		}
		return p.member(sign, name != "")
	})
	p.out = append(p.out, '}')
	return ok
}

// member reads a key, a sign and a value; a bare key is not quoted.
func (p *printed) member(sign byte, bare bool) bool {
	key, ok := "", false
	switch c := p.s[p.i]; {
	case bare:
		p.foreign = true
		key = p.name()
		ok = key != ""
	case c == '"' || c == '\'':
		key, ok = p.quoted()
	default:
		return p.fail(p.i)
	}
	if !ok || !p.sign(sign) {
		return false
	}
	p.key(key)
	return p.value()
}

// name reads a qualified name. It returns "" if the text may continue it.
func (p *printed) name() string {
	from := p.i
	switch end := printedNameEnd(p.s, from); {
	case !p.eof && (end == len(p.s) || p.s[end:] == ":"):
		p.stopShort()
	case end == from:
		p.fail(from)
	default:
		p.i = end
	}
	if p.short || p.failed {
		return ""
	}
	return p.s[from:p.i]
}

// printedNameEnd returns the end of the name at s[i:], of at most 128 bytes.
func printedNameEnd(s string, i int) int {
	const most = 128
	from := i
	for i < len(s) && i-from < most && (scan.IsWord(s[i]) && s[i] < 0x80 ||
		i > from && (s[i] == '.' || strings.HasPrefix(s[i:], "::") || s[i] == ':' && s[i-1] == ':')) {
		i++
	}
	return i
}

// literalWords maps words of other languages to JSON.
var literalWords = map[string]string{"null": "null", "true": "true", "false": "false", "None": "null",
	"nil": "null", "True": "true", "False": "false"}

// word reads what begins with a name: a literal word, a variant of an enum, or a constructor.
func (p *printed) word() bool {
	from := p.i
	name := p.name()
	if name == "" {
		return false
	}
	if word, is := literalWords[name]; is {
		p.foreign = p.foreign || word != name
		p.out = append(p.out, word...)
		return true
	}
	p.foreign = true
	variant := name[strings.LastIndexAny(name, ".:")+1:] // ASSISTANT of Role.ASSISTANT
	switch rest := p.s[p.i:]; {
	case !isUpper(variant): // a variable or a function: code
		return p.fail(from)
	case strings.HasPrefix(rest, "("):
		return p.constructed(name, variant)
	case strings.HasPrefix(rest, "{"), strings.HasPrefix(rest, " {"):
		p.i += strings.IndexByte(rest, '{')
		return p.object(variant, '}')
	case rest == " " && !p.eof:
		return p.stopShort()
	case rest != "" && strings.IndexByte(",)]}> \n\r\t", rest[0]) < 0:
		return p.fail(from)
	}
	p.out = jsontext.AppendString(p.out, variant)
	return true
}

// constructed reads the parentheses of a constructor: fields, or values without names.
func (p *printed) constructed(name, variant string) bool {
	open := p.i
	if p.i++; !p.skipBlank() {
		return false
	}
	if name == "Some" || name == "Ok" {
		return p.value() && p.comma(')') && p.sign(')')
	}
	fields := p.s[p.i] == ')' || p.field()
	if p.short {
		return false
	}
	if p.i = open; fields {
		return p.object(variant, ')')
	}
	return p.list(')')
}

func isUpper(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

// field reports whether a name and = follow.
func (p *printed) field() bool {
	end := printedNameEnd(p.s, p.i)
	if !p.eof && (end == len(p.s) || p.s[end:] == "=") {
		p.short = true
	}
	return end > p.i && end < len(p.s) && p.s[end] == '=' && !strings.HasPrefix(p.s[end:], "==")
}

// quoted reads a text in quotes, which ends in its line. Escapes must mean the same in each language.
func (p *printed) quoted() (text string, ok bool) {
	from, quote := p.i, p.s[p.i]
	p.foreign = p.foreign || quote == '\''
	body := p.s[from+1:]
	var b []byte
	for {
		n := strings.IndexAny(body, "\n\\"+string(quote))
		if n < 0 {
			return "", p.stopShort()
		}
		b = append(b, body[:n]...)
		switch rest := body[n:]; rest[0] {
		case quote:
			p.i = len(p.s) - len(rest) + 1
			return string(b), true
		case '\n':
			return "", p.fail(from)
		default:
			r, n := escape(rest[:min(len(rest), maxEscape)])
			if n == 0 {
				p.short = !p.eof && len(rest) < maxEscape
				return "", p.fail(from)
			}
			b = utf8.AppendRune(b, r)
			body = rest[n:]
		}
	}
}

// maxEscape bounds an escape.
const maxEscape = 10

// escape decodes an escape of n bytes; 0: languages disagree about it.
func escape(s string) (r rune, n int) {
	if len(s) > 1 && strings.IndexByte(`'"/`, s[1]) >= 0 {
		return rune(s[1]), 2
	}
	if hex, is := strings.CutPrefix(s, `\u{`); is { // of Rust
		hex, _, closed := strings.Cut(hex, "}")
		code, err := strconv.ParseUint(hex, 16, 21)
		if r = rune(code); !closed || err != nil || !utf8.ValidRune(r) {
			return 0, 0
		}
		return r, len(hex) + len(`\u{}`)
	}
	r, _, rest, err := strconv.UnquoteChar(s, '"')
	if err != nil {
		return 0, 0
	}
	return r, len(s) - len(rest)
}
