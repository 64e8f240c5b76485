package args

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// signOps are other signs in place of those of JSON.
func signOps() []Op {
	return []Op{
		{ID: "args.signs", Damage: otherSigns, Undo: pure(signs), Cost: cheap, Keeps: true,
			Proof: true, About: "brackets, quotes and colons of another script, and signs that cannot be seen",
			Signs: quoteOpeners + otherPunctuation + "٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹０１２３４５６７８９" +
				"\u00a0\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u202a\u202c\u2060\u2066\u2067\u2068\u2069\u3000\ufeff"},
		{ID: "args.escapes", About: `escapes such as \u{1F642}`, Damage: when(func(_ *rand.Rand,
			text string) (string, bool) {
			return astral.ReplaceAllStringFunc(text, func(r string) string {
				return fmt.Sprintf(`\u{%X}`, []rune(r)[0])
			}), true
		}, func(text string) bool { return !holds(text, "\"'`\\") }), Undo: pure(escapes),
			Cost: cheap, Keeps: true, Proof: true},
	}
}

// quoteOpeners open a text in another script; otherPunctuation replaces signs of JSON.
const (
	quoteOpeners     = "“”„‟〝「『｢«»‹《❝＂`"
	otherPunctuation = "｛｝［【】］：︰﹕，、､﹐،；؛﹔－−．٫"
)

// otherSigns writes an object with the signs of another script, unless its texts contain them.
func otherSigns(r *rand.Rand, text string) (string, bool) {
	enclosed := func(opens, shuts, but string) (string, bool) {
		out, ok := valued(func(_ *rand.Rand, v gjson.Result) string {
			if s := v.String(); v.Type == gjson.String && (opens != "`" || strings.Contains(s, "\n")) {
				return opens + s + shuts
			}
			return v.Raw
		})(r, text)
		return out, ok && !holds(text, but)
	}
	switch r.IntN(4) {
	case 0:
		return layout{"｛", "：", "，", "｝", nil, nil}.write(text)
	case 1:
		return layout{"\u2068{", "\u200e: ", ",\u200b ", "}", nil, nil}.write(text)
	case 2:
		return enclosed("`", "`", "`$\\")
	}
	return enclosed("「", "」", "「」“”„＂\"\\\n\t")
}

// signs reads the punctuation of other scripts in place of JSON's: full-width brackets, 「quotes」,
// invisible blanks, and template literals of JavaScript.
func signs(s string) []string {
	if r, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(s, isBlank)); isLetter(r) ||
		strings.ContainsRune("<-?%&=", r) {
		return nil // another notation
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch closers := closersOf(r); {
		case r == '"':
			end := stringEnd(s, i)
			if end < 0 {
				return nil
			}
			out = append(out, s[i:end]...)
			i = end
		case r == '\'':
			return nil
		case closers != "":
			body, n, ok := quoted(s[i+size:], r, closers)
			if !ok {
				return nil
			}
			out = jsontext.AppendString(out, body)
			i += size + n
		default:
			out = append(out, signOf(r)...)
			i += size
		}
	}
	return only(string(out), s, true)
}

// closersOf returns what can close a text that r opens, or "". Each pair has its own marks, except ' and
// its relatives, which also stand in words.
func closersOf(r rune) string {
	shuts := [...]string{"”", "”", "“”‟", "“”‟", "〞〟", "」", "』", "｣", "»", "«", "›", "》", "❞", "＂", "`"}
	if at := strings.IndexRune(quoteOpeners, r); at >= 0 {
		return shuts[utf8.RuneCountInString(quoteOpeners[:at])]
	}
	return ""
}

// quoted returns the text up to the first closing mark of s, and the length of both. It fails if another
// mark could be the end, or a backslash is ambiguous.
func quoted(s string, open rune, closers string) (body string, n int, ok bool) {
	end := strings.IndexAny(s, closers)
	if end < 0 {
		return "", 0, false
	}
	_, size := utf8.DecodeRuneInString(s[end:])
	body = s[:end]
	if strings.ContainsRune(body, open) || strings.Contains(body, `\`) {
		return "", 0, false
	}
	if open == '`' {
		// In one line they may be a shell's: what they enclose is run.
		return body, end + size, strings.Contains(body, "\n") && !strings.Contains(body, "${")
	}
	return body, end + size, !strings.ContainsAny(body, `"“”„＂`)
}

// signOf returns the sign of JSON that r replaces, or r.
func signOf(r rune) string {
	const signs = "{}[[]]:::,,,,,,,,--.."
	if at := strings.IndexRune(otherPunctuation, r); at >= 0 {
		return signs[utf8.RuneCountInString(otherPunctuation[:at]):][:1]
	}
	if n, ok := jsontext.Digit(r); ok {
		return string('0' + rune(n))
	}
	if isBlank(r) && !strings.ContainsRune(" \n\t\r", r) {
		return " "
	}
	return string(r)
}

// isBlank reports whether r is a blank or invisible, except the start of a colour.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) && r != '\x1b' || unicode.Is(unicode.Cf, r)
}

// inNumber reports whether c can stand in a number, or in a word next to one.
func inNumber(c byte) bool {
	return c-'0' <= 9 || c|0x20-'a' < 26 || c == '_' || c == '.' || c == '+' || c == '-' || c >= 0x80
}

var (
	astral    = regexp.MustCompile(`[\x{10000}-\x{10FFFF}]`)
	codePoint = regexp.MustCompile(`\\\\|\\u\{[0-9a-fA-F]{1,6}\}|\\U[0-9a-fA-F]{8}`)
)

// escapes reads \u{1F680} of JavaScript and Rust, and \U0001F634 of Python. In a text with quotes they
// may belong to a program.
func escapes(s string) []string {
	if !strings.Contains(s, `\u{`) && !strings.Contains(s, `\U`) {
		return nil
	}
	text, ok := split(s, same, func(part string) (string, bool) {
		ok := true
		out := codePoint.ReplaceAllStringFunc(part, func(escape string) string {
			n, _ := strconv.ParseUint(strings.Trim(escape[2:], "{}"), 16, 32)
			if escape == `\\` {
				return escape
			}
			ok = ok && n > '\\' && utf8.ValidRune(rune(n)) && !strings.ContainsAny(part[1:len(part)-1],
				"\"'`")
			return string(rune(n))
		})
		return out, ok
	})
	return only(text, s, ok)
}
