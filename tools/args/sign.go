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

// signOps are signs in place of those of JSON.
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

// quoteOpeners are what opens a text in another script; otherPunctuation is what stands for signs of JSON.
const (
	quoteOpeners     = "“”„‟〝「『｢«»‹《❝＂`"
	otherPunctuation = "｛｝［【】］：︰﹕，、､﹐،；؛﹔－−．٫"
)

// otherSigns writes an object with the signs of another script, unless they stand in its texts.
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

// signs reads the punctuation of other scripts where JSON has its own: full-width brackets, 「quotes」,
// blanks that cannot be seen, and template literals of JavaScript.
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

// closersOf is what can close a text that r opens; it is empty where r opens none. Each pair has
// marks of its own, but for ' and its relatives: they stand in words, too.
func closersOf(r rune) string {
	shuts := [...]string{"”", "”", "“”‟", "“”‟", "〞〟", "」", "』", "｣", "»", "«", "›", "》", "❞", "＂", "`"}
	if at := strings.IndexRune(quoteOpeners, r); at >= 0 {
		return shuts[utf8.RuneCountInString(quoteOpeners[:at])]
	}
	return ""
}

// quoted returns the text up to the first closing mark of s, and the length of both. It is false
// where a mark in it could be another end, or where a backslash may be an escape or not.
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

// signOf is the sign of JSON that r stands for, or r itself.
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

// isBlank reports whether r is a blank, or cannot be seen. What begins a colour can.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) && r != '\x1b' || unicode.Is(unicode.Cf, r)
}

// inNumber reports whether c can stand in a number, or in a word beside which none is one.
func inNumber(c byte) bool {
	return c-'0' <= 9 || c|0x20-'a' < 26 || c == '_' || c == '.' || c == '+' || c == '-' || c >= 0x80
}

var (
	astral    = regexp.MustCompile(`[\x{10000}-\x{10FFFF}]`)
	codePoint = regexp.MustCompile(`\\\\|\\u\{[0-9a-fA-F]{1,6}\}|\\U[0-9a-fA-F]{8}`)
)

// escapes reads the characters that JavaScript and Rust write \u{1F680}, and Python \U0001F634. Where a quote
// stands in a text, they may be those of a program that the text is.
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
