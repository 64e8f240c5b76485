package args

import (
	"math/rand/v2"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// notationOps are other notations than JSON. Ambiguous values are not converted.
func notationOps() []Op {
	open := func(id, about string, damage func(*rand.Rand, string) (string, bool),
		undo func(string) []string) Op {
		return Op{ID: id, About: about, Damage: damage, Undo: pure(undo), Cost: cheap, Keeps: true,
			Proof: true, Open: true}
	}
	encoded := func(v gjson.Result) string {
		return strings.ReplaceAll(url.QueryEscape(v.String()), "+", "%20")
	}
	lined := func(head, colon string) func(*rand.Rand, string) (string, bool) {
		return when(layout{head, colon, "\n", "", plain, nil}.as, func(text string) bool {
			return flat(text) && members(text) > 1 && !holds(text, `\`)
		})
	}
	return []Op{
		open("args.form", "a form as browsers send it", layout{"", "=", "&", "", plain, encoded}.as, form),
		open("args.lines", "a key and its value in each line, as YAML has them", lined("", ": "), keyLines),
		open("args.toml", "a table of TOML", lined("[arguments]\n", " = "), func(s string) []string {
			head, rest, ok := strings.Cut(s, "\n")
			name, closed := strings.CutSuffix(strings.TrimSpace(head), "]")
			if name, opened := strings.CutPrefix(name, "["); !ok || !closed || !opened || !frames(name) {
				return nil
			}
			return keyLines(rest)
		}),
		open("args.xml", "an element of XML for each argument", when(layout{"<parameter name=\"", "\">\n",
			"\n</parameter>\n<parameter name=\"", "\n</parameter>", plain, plain}.as,
			func(text string) bool { return !holds(text, "&<") }), elements),
		{ID: "args.begin", About: "the first brace is lost, or that and the quote",
			Damage: func(r *rand.Rand, text string) (string, bool) {
				return strings.TrimPrefix(text, pick(r, "{", `{"`)), strings.HasPrefix(text, `{"`)
			}, Undo: pure(opened), Cost: cheap, Keeps: true, Proof: true},
		open("args.members", "no braces around the members", layout{"", ": ", ", ", "", nil, nil}.as,
			func(s string) []string {
				if all := opened(s); len(all) == 1 {
					return []string{all[0] + "}"}
				}
				return nil
			}),
		{ID: "args.literal", About: "a literal of a program",
			Damage: func(r *rand.Rand, text string) (string, bool) {
				return pick(r, layout{"{", " = ", ", ", "}", plain, nil},
					layout{"dict(", "=", ", ", ")", plain, nil}).write(text)
			}, Undo: inProgram, Cost: program, Keeps: true, Proof: true},
		{ID: "args.keywords", About: "the arguments of a call without the call",
			Damage: when(layout{"", "=", ", ", "", plain, nil}.as,
				func(text string) bool { return members(text) > 1 }),
			Undo: asArguments, Cost: program, Keeps: true, Proof: true, Open: true},
	}
}

// opened restores the beginning of an object that a server dropped: its brace, maybe with the quote.
func opened(s string) []string {
	rest := strings.TrimLeft(s, " \n\t\r")
	begin := `{"`
	if strings.HasPrefix(rest, `"`) {
		begin, rest = "{", rest[1:]
	}
	key, rest, closed := strings.Cut(rest, `"`)
	return only(begin+s, s, closed && isWord(key) && strings.HasPrefix(strings.TrimLeft(rest, " \n\t\r"),
		":"))
}

// lineMember is a key and its value on a line, as in YAML, TOML and INI.
var lineMember = regexp.MustCompile(`^([A-Za-z_][\w-]*)(?::[ \t]+| ?= ?)(\S.*)$`)

// keyLines reads lines of a key and a value, or a key and a block of YAML. A single line may be a
// remark, and a value with its own meaning in YAML is uncertain.
func keyLines(s string) []string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) < 2 {
		return nil
	}
	var members []string
	for len(lines) > 0 {
		m := lineMember.FindStringSubmatch(strings.TrimRight(lines[0], " \t\r"))
		if m == nil {
			return nil
		}
		value, n, ok := block(m[2], lines[1:])
		if n == 0 {
			value, ok = scalar(m[2])
		}
		if !ok {
			return nil
		}
		members = append(members, m[1], value)
		lines = lines[1+n:]
	}
	return []string{jsontext.Object(members...)}
}

// block returns the text of the indented lines behind | or |-, and their number; 0 without any.
func block(sign string, lines []string) (text string, n int, ok bool) {
	if sign != "|" && sign != "|-" {
		return "", 0, false
	}
	var b strings.Builder
	indent := ""
	for ; n < len(lines); n++ {
		line := lines[n]
		body := strings.TrimLeft(line, " ")
		if strings.TrimRight(body, "\t\r") != body || strings.HasPrefix(body, "\t") {
			return "", n, false // a tab is no indent, and an end of a line is ambiguous
		}
		switch {
		case body == "" && len(line) <= len(indent):
			line = ""
		case indent == "" && body != "":
			indent = line[:len(line)-len(body)]
		}
		if rest, in := strings.CutPrefix(line, indent); in && (indent != "" || body == "") {
			b.WriteString(rest + "\n")
		} else if line != "" {
			break
		} else {
			b.WriteByte('\n')
		}
	}
	text = strings.TrimRight(b.String(), "\n")
	if sign == "|" {
		text += "\n"
	}
	return text, n, indent != ""
}

// scalar returns the text of a value on a line: quoted text, or words that mean only themselves.
func scalar(s string) (string, bool) {
	switch s[0] {
	case '"':
		if stringEnd(s, 0) < len(s) || !valid(s, 1) {
			return "", false
		}
		return jsontext.Unquote([]byte(s[1 : len(s)-1])), true
	case '\'':
		body, ok := strings.CutSuffix(s[1:], "'")
		return body, ok && !strings.ContainsAny(body, `'\`)
	}
	own := strings.ContainsRune("[]{}|>&*!%@`#,?-~:=<", rune(s[0])) || strings.EqualFold(s, "null")
	return s, !own && !strings.Contains(s, " #") && !strings.Contains(s, ": ") && !strings.HasSuffix(s, ":")
}

var (
	namedTag = regexp.MustCompile(`^<(?:[\w-]+:)?(parameter|param|arg|argument)(?:=["']?|\s+(?:name|key)\s*=\s*["'])([\w.-]+)["']?(?:\s+[\w-]+="[^"<>]*")*\s*>`)
	entity   = regexp.MustCompile(`&(?:#\d+|#x[0-9a-fA-F]+|\w+);`)
)

func named(name, args string) string {
	return `{"name":` + jsontext.Quote(name) + `,"arguments":` + args + "}"
}

// elements reads arguments written as elements only: <parameter name="path">a.md</parameter>, or
// <path>a.md</path>.
func elements(s string) []string {
	var members []string
	key := "" // of GLM, with an element for each key and each value
	for rest := strings.TrimSpace(s); rest != ""; {
		name, value, after, ok := element(rest)
		if !ok || len(members) > 2*mostMembers {
			return nil
		}
		switch {
		case name == "arg_key" && key == "" && isWord(value):
			key = value
		case name == "arg_value" && key != "":
			members, key = append(members, key, value), ""
		default:
			members = append(members, name, value)
		}
		rest = strings.TrimSpace(after)
	}
	if len(members) == 0 || key != "" {
		return nil
	}
	return []string{jsontext.Object(members...)}
}

// element reads the element at the start of s. It fails on an ambiguous entity or an inner tag.
func element(s string) (name, value, after string, ok bool) {
	tag, name, inner := "", "", ""
	if m := namedTag.FindStringSubmatchIndex(s); m != nil {
		tag, name, inner = s[1:m[3]], s[m[4]:m[5]], s[m[1]:]
	} else if name, inner, ok = openTag(s); ok {
		tag = name
	} else {
		return "", "", "", false
	}
	value, after, ok = strings.Cut(inner, "</"+tag+">")
	if !ok || strings.Contains(value, "<"+tag+">") || strings.Contains(value, "<"+tag+" ") ||
		strings.Contains(value, "<"+tag+"=") {
		return "", "", "", false
	}
	if data, is := strings.CutPrefix(value, "<![CDATA["); is {
		data, is = strings.CutSuffix(data, "]]>")
		return name, data, after, is && !strings.Contains(data, "]]>")
	}
	if strings.HasPrefix(value, "\n") && strings.HasSuffix(value, "\n") && len(value) > 1 {
		value = value[1 : len(value)-1] // as Qwen writes them
	}
	return name, value, after, !entity.MatchString(value)
}

// Begins reports whether text begins like markup, and so is no text for a tool: a tag, a comment, a
// token, a brace of another script, or a quoted key with its colon.
func Begins(text string) bool {
	text = strings.TrimLeftFunc(text, isBlank)
	r, size := utf8.DecodeRuneInString(text)
	rest := text[size:]
	switch {
	case r == '<':
		next, _ := utf8.DecodeRuneInString(rest)
		return unicode.IsLetter(next) || strings.ContainsRune("/!?|｜", next) || strings.HasPrefix(rest, "0x")
	case strings.ContainsRune("▁ĠĊ｛［", r), strings.HasPrefix(text, "&lt;"), strings.HasPrefix(text, `\u003c`):
		return true
	case r == '{' || r == '[':
		inner := strings.TrimLeftFunc(rest, isBlank)
		return r == '{' && strings.HasPrefix(inner, `"`) || strings.HasPrefix(inner, "{")
	case isKeyMark(r):
		text = rest
	}
	n := strings.IndexFunc(text, func(r rune) bool { return !isWord(string(r)) })
	if n <= 0 {
		return false
	}
	r, size = utf8.DecodeRuneInString(text[n:])
	behind := strings.TrimLeftFunc(text[n+size:], isBlank)
	return isKeyMark(r) && (strings.HasPrefix(behind, ":") || strings.HasPrefix(behind, "：") ||
		strings.HasPrefix(behind, "=>"))
}

// isKeyMark reports whether r can stand around a key.
func isKeyMark(r rune) bool { return strings.ContainsRune("\"'`“”„＂「」『』«»", r) }

// stringEnd returns the offset behind the JSON string at s[i], or -1.
func stringEnd(s string, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// split joins the results of outside for the text between the JSON strings of s, and of inside for each
// string with its quotes. It fails if a string has no end or a function fails.
func split(s string, outside, inside func(part string) (string, bool)) (string, bool) {
	var b strings.Builder
	for from := 0; from < len(s); {
		at := strings.IndexByte(s[from:], '"')
		if at < 0 {
			at = len(s) - from
		}
		part, ok := outside(s[from : from+at])
		if b.WriteString(part); !ok {
			return "", false
		}
		if from += at; from == len(s) {
			break
		}
		end := stringEnd(s, from)
		if end < 0 {
			return "", false
		}
		part, ok = inside(s[from:end])
		if b.WriteString(part); !ok {
			return "", false
		}
		from = end
	}
	return b.String(), true
}

func same(part string) (string, bool) { return part, true }

// only returns text as the one reading, if it has changed.
func only(text, before string, ok bool) []string {
	if !ok || text == before {
		return nil
	}
	return []string{text}
}

// mostMembers bounds the members: each regular expression may scan all that follows.
const mostMembers = 64

// form reads URL-encoded forms and queries: city=S%C3%A3o+Paulo&unit=celsius. A + is a blank only if
// something else shows that the text was encoded.
func form(s string) []string {
	s = strings.TrimPrefix(strings.TrimSpace(s), "?")
	if strings.IndexFunc(s, func(r rune) bool { return !inForm(r) }) >= 0 ||
		strings.Contains(s, "+") && (!strings.Contains(s, "%") || strings.Contains(s, "%20")) {
		return nil
	}
	var members []string
	for _, pair := range strings.Split(s, "&") {
		key, value, ok := strings.Cut(pair, "=")
		key, keyErr := url.QueryUnescape(key)
		value, valueErr := url.QueryUnescape(value)
		if !ok || key == "" || strings.Contains(pair[strings.IndexByte(pair, '=')+1:], "=") ||
			keyErr != nil || valueErr != nil {
			return nil
		}
		members = append(members, key, value)
	}
	return []string{jsontext.Object(members...)}
}

// inForm reports whether r can stand in an encoded form.
func inForm(r rune) bool {
	return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.~*!'()%+&=", r)
}
