package noise

import (
	"fmt"
	"net/url"
	"strings"
)

// notationOps write the object in another notation, as a model does that thinks in another language, or a
// server that hands on what it should decode. Where the values make that unclear, they do nothing.
func notationOps() []Operator {
	texts := func(m *message, signs string) bool { return strings.ContainsAny(plainTexts(m), signs) }
	members := func(object string) string { return object[1 : len(object)-1] }
	return []Operator{
		rewrite("note-fullwidth", "full-width brackets, colons and commas", func(m *message) string {
			return "｛" + members(object(m.fields, "：", "，", quote)) + "｝"
		}),
		rewrite("note-corner-quotes", "「」 in place of quotes", func(m *message) string {
			if texts(m, "「」“”„＂\"\\\n\t") {
				return m.body
			}
			return object(m.fields, ": ", ", ", func(v any) string {
				if s, ok := v.(string); ok {
					return "「" + s + "」"
				}
				return quote(v)
			})
		}),
		rewrite("note-template", "template literals around texts of several lines", func(m *message) string {
			return object(m.fields, ": ", ", ", func(v any) string {
				if s, ok := v.(string); ok && strings.Contains(s, "\n") && !strings.ContainsAny(s, "`$\\") {
					return "`" + s + "`"
				}
				return quote(v)
			})
		}),
		rewrite("note-code-points", `escapes such as \u{1F642}`, func(m *message) string {
			if texts(m, "\"'`") {
				return m.body
			}
			var b strings.Builder
			for _, r := range m.body {
				if r > 0xffff {
					fmt.Fprintf(&b, `\u{%X}`, r)
				} else {
					b.WriteRune(r)
				}
			}
			return b.String()
		}),
		rewrite("note-invisible",
			"marks of direction and zero width in front of the object and around its signs",
			func(m *message) string {
				return "\u2068" + object(m.fields, "\u200e: ", ",\u200b ", quote)
			}),
		rewrite("note-no-braces", "no braces around the members",
			func(m *message) string { return members(m.body) }),
		rewrite("note-begin-eaten", "the first brace and quote are lost",
			func(m *message) string { return strings.TrimPrefix(m.body, `{"`) }),
		rewrite("note-form", "a form as browsers send it", func(m *message) string {
			parts := make([]string, len(m.fields))
			for i, f := range m.fields {
				parts[i] = f.key + "=" + strings.ReplaceAll(url.QueryEscape(text(f.value)), "+", "%20")
			}
			return strings.Join(parts, "&")
		}),
		rewrite("note-xml", "a tag for each argument", func(m *message) string {
			if texts(m, "&") {
				return m.body
			}
			var b strings.Builder
			for _, f := range m.fields {
				fmt.Fprintf(&b, "<parameter name=%q>\n%s\n</parameter>\n", f.key, text(f.value))
			}
			return b.String()
		}),
		rewrite("note-underscore", "the object below a key that says nothing",
			func(m *message) string { return `{"_": ` + m.body + "}" }),
		rewrite("note-rpc", "a request of JSON-RPC", func(m *message) string {
			return `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": ` + quote(m.name) +
				`, "arguments": ` + m.body + "}}"
		}),
		serverNote("utf16", "a NUL behind each character", func(s string) string {
			var b strings.Builder
			for _, r := range s {
				b.WriteString(string(r) + "\x00")
			}
			return strings.TrimSuffix(b.String(), "\x00") // a parser that cuts off a last NUL finds none
		}),
		serverNote("sentencepiece", "▁ in place of each blank",
			func(s string) string { return strings.ReplaceAll(s, " ", "▁") }),
		serverNote("bytes", "characters of a vocabulary in place of bytes", func(s string) string {
			var b strings.Builder
			for _, c := range []byte(s) {
				b.WriteRune(glyph(c))
			}
			return b.String()
		}),
		serverNote("byte-tokens", "<0x0A> around the object",
			func(s string) string { return "<0x0A>" + s + "<0x0A>" }),
		serverNote("unknown", "<unk> around the object",
			func(s string) string { return "<unk>" + s + "<unk>" }),
	}
}

// serverNote is a server that hands on an object as its tokenizer or its wire has it.
func serverNote(id, about string, f func(s string) string) Operator {
	op := rewrite("note-"+id, about, func(m *message) string { return f(m.body) })
	op.Server = true
	return op
}

// text is a value as forms and tags have it: texts as they are, all else as JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return quote(v)
}

// plainTexts are all values of a message, as they were meant.
func plainTexts(m *message) string {
	var b strings.Builder
	for _, f := range m.fields {
		b.WriteString(text(f.value))
	}
	return b.String()
}

// glyph is the character that stands for a byte in the vocabulary of GPT-2.
func glyph(c byte) rune {
	switch {
	case c > ' ' && c < 0x7f, c > 0xa0 && c != 0xad:
		return rune(c)
	case c <= ' ':
		return 0x100 + rune(c)
	case c == 0xad:
		return 0x143
	}
	return 0x121 + rune(c) - 0x7f
}
