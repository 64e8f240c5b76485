package args

import (
	"encoding/base64"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// encodingOps are encodings of the whole object.
func encodingOps() []Op {
	row := func(id, about string, damage func(text string) string, undo func(string) (string, bool)) Op {
		return Op{ID: id, About: about, Server: true, Damage: written(func(_ *rand.Rand,
			text string) string {
			return damage(text)
		}),
			Undo: pure(func(s string) []string {
				text, ok := undo(s)
				return only(text, s, ok && utf8.ValidString(text))
			}), Cost: cheap, Keeps: true}
	}
	decode := row("args.decode", "the object is a text of JSON", jsontext.Quote, func(s string) (string,
		bool) {
		return jsontext.Unquote([]byte(s[1:max(len(s)-1, 1)])), s[0] == '"'
	})
	decode.Whole, decode.Server = true, false
	return []Op{
		decode,
		row("args.quotes", "quotes around the object, which is not escaped",
			func(s string) string { return `"` + s + `"` }, unquotedObject),
		row("args.html", "HTML's entities", html.EscapeString, func(s string) (string, bool) {
			for _, begin := range []string{"{&quot;", "{&#34;", "&quot;", "&#34;", "&#123;", "&#x7b;",
				"&lbrace;"} {
				if strings.HasPrefix(strings.ToLower(s[:min(len(s), len("&lbrace;"))]), begin) {
					return html.UnescapeString(s), true
				}
			}
			return "", false
		}),
		row("args.percent", "percent encoding", url.PathEscape, func(s string) (string, bool) {
			if s[0] != '%' {
				return "", false
			}
			return unescapeURL(s)
		}),
		row("args.base64", "base64",
			func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
			func(s string) (string, bool) {
				s = strings.TrimPrefix(s, "data:application/json;base64,")
				if len(s) < 8 || strings.ContainsAny(s, `{" `) {
					return "", false
				}
				s = strings.ReplaceAll(strings.ReplaceAll(strings.TrimRight(s, "="), "+", "-"), "/", "_")
				out, err := base64.RawURLEncoding.DecodeString(s)
				return string(out), err == nil
			}),
		{ID: "args.utf16", About: "a NUL behind each character", Server: true,
			Damage: written(func(_ *rand.Rand, text string) string {
				var b strings.Builder
				for _, r := range text {
					b.WriteString(string(r) + "\x00")
				}
				return strings.TrimSuffix(b.String(), "\x00") // a parser that cuts off a last NUL finds none
			}), Undo: pure(func(s string) []string {
				text, ok := padded(s)
				return only(text, s, ok)
			}), Signs: "\x00", Cost: cheap, Keeps: true},
	}
}

// unescapeURL decodes text as a form or as part of a path.
func unescapeURL(text string) (string, bool) {
	if strings.Contains(text, "&amp;") || strings.Contains(text, "&#") {
		return html.UnescapeString(text), true
	}
	decode := url.PathUnescape
	if strings.Contains(text, "+") && !strings.Contains(text, "%20") {
		if !strings.Contains(text, "%2B") {
			return "", false // ambiguous: a + or a blank
		}
		decode = url.QueryUnescape
	}
	out, err := decode(text)
	return out, err == nil && !strings.ContainsAny(text, " \n\"{")
}

// padded removes NULs that precede or follow each character.
func padded(s string) (string, bool) {
	runes := []rune(strings.TrimPrefix(s, "\ufeff"))
	var b strings.Builder
	at := 0
	if len(runes) > 0 && runes[0] == 0 {
		at = 1
	}
	for i, r := range runes {
		if i%2 == at {
			b.WriteRune(r)
		}
		if i%2 == at == (r == 0) {
			return "", false
		}
	}
	return b.String(), true
}
