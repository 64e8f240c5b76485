package parse

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Type is the key under which an object keeps the name of what was printed.
const Type = "@type"

// Value is what was read.
type Value struct {
	Doc     string // JSON; where several values were printed, a list of them
	Many    bool   // several were
	Foreign bool   // a program printed it: it is no JSON
	At      int    // where it ends; or, where it is none, the byte that shows it
}

// FirstKeys are those of which a value that is printed has one first.
type FirstKeys []string

// Begins says whether s begins as a value does that is no JSON: with what is made, with fields, an event, or
// a list of tokens. JSON is known by its first byte.
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
		return k.made(s[i:], short)
	}
	return max(scan.Starts(s, "data: {", eof), k.made(s, short))
}

// values are what the value of a field that stands alone begins with.
const values = "'\"[{<NTF-0123456789"

// made looks for a name and the first field: Message(role=, Message { role:, or for a field alone.
func (k FirstKeys) made(s string, short verdict) verdict {
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
		return scan.When(strings.IndexByte(values, s[end+1]) >= 0)
	case !isUpper(name):
		return no
	case end == len(s), end+1 == len(s) && s[end] == ' ':
		return short
	case s[end] == '(' && (name == "Some" || name == "Ok"):
		if s = s[end+1:]; s == "" {
			return short
		}
		return k.made(s, short)
	case s[end] == '(':
		return k.key(s[end+1:], '=', short)
	case s[end] == '{', strings.HasPrefix(s[end:], " {"):
		return k.key(s[end+strings.IndexByte(s[end:], '{')+1:], ':', short)
	}
	return no
}

// key looks for one of the keys, and the sign behind it. It makes no text: each line of a reply comes here.
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

// Read reads text, which begins as a value does and holds nothing else. It is No where it does, Wait where it
// may go on, and Yes, with eof only, where it is whole. Values may nest so deep.
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

// printed is a text that is read from front to back, once, and written as JSON. What reads a part of it is
// false where it stops: the text is none of the notations, or ends too early.
type printed struct {
	s       string
	i       int
	eof     bool
	depth   int // how much deeper it may get
	out     []byte
	many    int  // values so far
	foreign bool // something is no JSON
	failed  bool // it is none of the notations, as s[i:] shows
	short   bool // the text ends too early
}

// fail stops at offset i, unless the text ended before.
func (p *printed) fail(i int) bool {
	if !p.short {
		p.failed, p.i = true, i
	}
	return false
}

// ends stops because the text does.
func (p *printed) ends() bool {
	p.short = true
	return false
}

// more skips blanks, and says that a byte follows.
func (p *printed) more() bool {
	p.i = scan.SkipSpace(p.s, p.i)
	return p.i < len(p.s) || p.ends()
}

// sign reads a sign behind blanks.
func (p *printed) sign(b byte) bool {
	switch {
	case !p.more():
		return false
	case p.s[p.i] != b:
		return p.fail(p.i)
	}
	p.i++
	return true
}

// part writes a comma, if something stands in front in the same object or list.
func (p *printed) part() {
	if last := p.out[len(p.out)-1]; last != '{' && last != '[' {
		p.out = append(p.out, ',')
	}
}

// key writes a key, behind which its value follows.
func (p *printed) key(key string) {
	p.part()
	p.out = append(jsontext.AppendString(p.out, key), ':')
}

// next begins one more value of the text.
func (p *printed) next() {
	if p.many++; p.many > 1 {
		p.out = append(p.out, ',')
	}
}

// values reads all values of the text: one, or one in each line; or the fields of one.
func (p *printed) values() {
	if p.field() {
		p.foreign = true
		p.next()
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
		p.next()
		ok = p.whole()
	}
}

// fields reads the fields of one value, with blanks between them: role='assistant' content=”
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

// whole reads a value; where it is JSON it stays as it is written.
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

// eventFields are the names of the lines of an event; a comment has none.
var eventFields = []string{"", "data", "event", "id", "retry"}

// events reads the events of a stream.
func (p *printed) events() {
	for p.i = scan.SkipSpace(p.s, p.i); p.i < len(p.s); p.i = scan.SkipSpace(p.s, p.i) {
		line, _, whole := strings.Cut(p.s[p.i:], "\n")
		name, data, named := strings.Cut(line, ":")
		switch data = strings.TrimSpace(data); {
		case !whole && !p.eof:
			p.ends()
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
			p.next()
			p.out = append(p.out, data...)
		}
		p.i += len(line)
	}
}

// value reads one value.
func (p *printed) value() (ok bool) {
	if !p.more() {
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
		return p.ends()
	case why != "" || end < len(p.s) && scan.IsWord(p.s[end]):
		return p.fail(p.i)
	}
	p.out = append(p.out, p.s[p.i:end]...)
	p.i = end
	return true
}

// parts reads what stands behind a bracket, with commas between, up to end.
func (p *printed) parts(end byte, part func() bool) bool {
	p.i++
	for p.more() {
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

// comma reads what stands behind a part: a comma, which may be the last one, or end.
func (p *printed) comma(end byte) bool {
	switch {
	case !p.more():
		return false
	case p.s[p.i] != ',':
		return p.s[p.i] == end || p.fail(p.i)
	}
	p.i++
	if !p.more() {
		return false
	}
	p.foreign = p.foreign || p.s[p.i] == end
	return true
}

// list reads the values in a list.
func (p *printed) list(end byte) bool {
	p.out = append(p.out, '[')
	ok := p.parts(end, func() bool {
		p.part()
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
		if name != "" && end == '}' && p.s[p.i] == '.' { // Rust leaves fields out
			p.i++
			return p.sign('.')
		}
		return p.member(sign, name != "")
	})
	p.out = append(p.out, '}')
	return ok
}

// member reads a key, a sign and a value; a bare key stands in no quotes.
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

// name reads the name of something: letters, digits, and the signs between its parts. It is empty
// where the text may go on with it.
func (p *printed) name() string {
	from := p.i
	switch end := printedNameEnd(p.s, from); {
	case !p.eof && (end == len(p.s) || p.s[end:] == ":"):
		p.ends()
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

// printedNameEnd is where the name at s[i:] ends. A name has no more than 128 bytes.
func printedNameEnd(s string, i int) int {
	const most = 128
	from := i
	for i < len(s) && i-from < most && (scan.IsWord(s[i]) && s[i] < 0x80 ||
		i > from && (s[i] == '.' || strings.HasPrefix(s[i:], "::") || s[i] == ':' && s[i-1] == ':')) {
		i++
	}
	return i
}

// wordsOf are the words of languages for values of JSON.
var wordsOf = map[string]string{"null": "null", "true": "true", "false": "false", "None": "null",
	"nil": "null", "True": "true", "False": "false"}

// word reads what begins with a name: a word of the language, the variant of an enum, or what is
// made with that name.
func (p *printed) word() bool {
	from := p.i
	name := p.name()
	if name == "" {
		return false
	}
	if word, is := wordsOf[name]; is {
		p.foreign = p.foreign || word != name
		p.out = append(p.out, word...)
		return true
	}
	p.foreign = true
	variant := name[strings.LastIndexAny(name, ".:")+1:] // ASSISTANT of Role.ASSISTANT
	switch rest := p.s[p.i:]; {
	case !isUpper(variant): // a variable, or a function: it is code
		return p.fail(from)
	case strings.HasPrefix(rest, "("):
		return p.made(name, variant)
	case strings.HasPrefix(rest, "{"), strings.HasPrefix(rest, " {"):
		p.i += strings.IndexByte(rest, '{')
		return p.object(variant, '}')
	case rest == " " && !p.eof:
		return p.ends()
	case rest != "" && strings.IndexByte(",)]}> \n\r\t", rest[0]) < 0:
		return p.fail(from)
	}
	p.out = jsontext.AppendString(p.out, variant)
	return true
}

// made reads what stands in the parentheses behind a name: fields, or values without a name.
func (p *printed) made(name, variant string) bool {
	open := p.i
	if p.i++; !p.more() {
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

// field says that a name and = stand here.
func (p *printed) field() bool {
	end := printedNameEnd(p.s, p.i)
	if !p.eof && (end == len(p.s) || p.s[end:] == "=") {
		p.short = true
	}
	return end > p.i && end < len(p.s) && p.s[end] == '=' && !strings.HasPrefix(p.s[end:], "==")
}

// quoted reads a text in quotes. Escapes mean the same in each language, or stop it. It ends in its line.
func (p *printed) quoted() (text string, ok bool) {
	from, quote := p.i, p.s[p.i]
	p.foreign = p.foreign || quote == '\''
	body := p.s[from+1:]
	var b []byte
	for {
		n := strings.IndexAny(body, "\n\\"+string(quote))
		if n < 0 {
			return "", p.ends()
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

// maxEscape is how long an escape may be.
const maxEscape = 10

// escape is the character that an escape stands for, and its length; 0: it does not mean the same in each
// language.
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
