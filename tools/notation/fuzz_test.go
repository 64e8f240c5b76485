package notation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// written writes an object of texts, and numbers behind them, in a notation. It is false where the
// values cannot be told from the notation then.
type written struct {
	name string
	form func(keys, texts []string) (string, bool)
}

// lay writes the object with the given quotes, colon, comma and braces.
func lay(open, quote, unquote, colon, comma, shut string,
	text func(string) string) func(keys, texts []string) string {
	return func(keys, texts []string) string {
		parts := make([]string, len(keys))
		for i, k := range keys {
			parts[i] = quote + k + unquote + colon + quote + text(texts[i]) + unquote
		}
		return open + strings.Join(parts, comma) + shut
	}
}

func inJSON(s string) string {
	q := string(jsontext.AppendString(nil, s))
	return q[1 : len(q)-1]
}

func none(texts []string, signs string) bool {
	return !strings.ContainsAny(strings.Join(texts, ""), signs)
}

func notations() []written {
	itself := func(s string) string { return s }
	plain := lay("{", `"`, `"`, ": ", ", ", "}", inJSON)
	tight := lay("{", `"`, `"`, ":", ",", "}", inJSON)
	return []written{
		{"full width", func(k, v []string) (string, bool) {
			return lay("｛", `"`, `"`, "：", "，", "｝", inJSON)(k, v), true
		}},
		{"corner quotes", func(k, v []string) (string, bool) {
			return lay("{", "「", "」", ": ", ", ", "}", itself)(k, v), none(v, "「」\"“”„＂\\")
		}},
		{"guillemets", func(k, v []string) (string, bool) {
			return lay("{", "«", "»", ": ", ", ", "}", itself)(k, v), none(v, "«»\"“”„＂\\")
		}},
		{"template", func(k, v []string) (string, bool) {
			parts := make([]string, len(k))
			for i := range k {
				parts[i] = `"` + k[i] + "\": `" + v[i] + "\n`"
			}
			return "{" + strings.Join(parts, ", ") + "}", none(v, "`$\\")
		}},
		{"utf16", func(k, v []string) (string, bool) {
			var b strings.Builder
			for _, r := range plain(k, v) {
				b.WriteString(string(r) + "\x00")
			}
			return b.String(), true
		}},
		{"SentencePiece", func(k, v []string) (string, bool) {
			return strings.ReplaceAll(plain(k, v), " ", "▁"), none(v, "▁")
		}},
		{"GPT-2", func(k, v []string) (string, bool) {
			var b strings.Builder
			for _, c := range []byte(plain(k, v)) {
				b.WriteRune(runeOf(c))
			}
			return b.String(), true
		}},
		{"byte tokens", func(k, v []string) (string, bool) {
			return lay("<0x0A>{<0x20>", `"`, `"`, ":<0x20>", ",<0x0A>", "}", inJSON)(k, v), none(v, "<")
		}},
		{"tokens around", func(k, v []string) (string, bool) { return "<unk><|message|>" + plain(k, v) + "</s>", true }},
		{"form", func(k, v []string) (string, bool) {
			parts := make([]string, len(k))
			for i := range k {
				parts[i] = k[i] + "=" + url.QueryEscape(v[i])
			}
			text := strings.Join(parts, "&")
			return text, !strings.Contains(text, "+") || strings.Contains(text, "%")
		}},
		{"parameters", func(k, v []string) (string, bool) {
			var b strings.Builder
			for i := range k {
				fmt.Fprintf(&b, "<parameter name=%q>\n%s\n</parameter>\n", k[i], v[i])
			}
			return b.String(), none(v, "<&")
		}},
		{"Lua", func(k, v []string) (string, bool) {
			return lay("{", "", "", "", ", ", "}", itself)(pairsOf(k, v), make([]string, len(k))), true
		}},
		{"lines", func(k, v []string) (string, bool) {
			return lay("", "", "", "", "\n", "", itself)(pairsOf(k, v), make([]string, len(k))), len(k) > 1
		}},
		{"beats", func(k, v []string) (string, bool) {
			return lay("{\n: keep-alive\n\n", `"`, `"`, ":: OPENROUTER PROCESSING\n\n ",
				",\n: ping - 2026-01-01 00:00:00+00:00\r\n\r\n", "\n: any words\n\n}", inJSON)(k, v), true
		}},
		{"tokens between", func(k, v []string) (string, bool) {
			return lay("{<|message|>", `"`, `"`, ":<|constrain|>", ",<|message|>", "<|call|>}", inJSON)(k, v),
				true
		}},
		{"semicolons", func(k, v []string) (string, bool) { return lay("{", `"`, `"`, ":", ";", "}", inJSON)(k, v), len(k) > 1 }},
		{"raw texts", func(k, v []string) (string, bool) {
			parts := make([]string, len(k))
			for i := range k {
				parts[i] = "'" + k[i] + "': r\"" + v[i] + `"`
			}
			return "{" + strings.Join(parts, ", ") + "}", none(v, "\"\n\r\t")
		}},
		{"verbatim texts", func(k, v []string) (string, bool) {
			parts := make([]string, len(k))
			for i := range k {
				parts[i] = `"` + k[i] + `": @"` + strings.ReplaceAll(v[i], `"`, `""`) + `"`
			}
			return "{" + strings.Join(parts, ", ") + "}", true
		}},
		{"serializer", func(k, v []string) (string, bool) { return "JSON.stringify(" + plain(k, v) + ", null, 2);", true }},
		{"dumps", func(k, v []string) (string, bool) { return "json.dumps(" + plain(k, v) + ", indent=2)", true }},
		{"Map", func(k, v []string) (string, bool) {
			parts := make([]string, len(k))
			for i := range k {
				parts[i] = `["` + k[i] + `", "` + inJSON(v[i]) + `"]`
			}
			return "new Map([" + strings.Join(parts, ", ") + "])", true
		}},
		{"begin eaten", func(k, v []string) (string, bool) { return tight(k, v)[2:], true }},
		{"no braces", func(k, v []string) (string, bool) {
			text := plain(k, v)
			return text[1 : len(text)-1], true
		}},
	}
}

// pairsOf writes members as TOML has them.
func pairsOf(keys, texts []string) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = k + ` = "` + inJSON(texts[i]) + `"`
	}
	return out
}

// runeOf is the character of a byte in the vocabulary of GPT-2.
func runeOf(c byte) rune {
	for r := rune(0); r < 0x144; r++ {
		if b, ok := byteOf(r); ok && b == c {
			return r
		}
	}
	return 0
}

// What was written in a notation is read as what it was, and as nothing else.
func TestWhatIsWrittenIsRead(t *testing.T) {
	for _, n := range notations() {
		read := 0
		t.Run(n.name, rapid.MakeCheck(func(t *rapid.T) {
			if n.isRead(t) {
				read++
			}
		}))
		if read == 0 {
			t.Errorf("%s is never read", n.name)
		}
	}
}

// isRead draws an object, writes it in the notation, and says whether it is read as what it was.
func (n written) isRead(t *rapid.T) bool {
	text := rapid.StringOf(rapid.OneOf(
		rapid.SampledFrom([]rune("ab {}[]:,;\"'\\/\n\t\r<>&%+=`$|@「」“”«»▁Ġ，：ü€字🚀")),
		rapid.RuneFrom(nil, unicode.Letter),
	))
	var keys, texts, want []string
	for i := range rapid.IntRange(1, 4).Draw(t, "size") {
		keys, texts = append(keys, string(rune('a'+i))), append(texts, text.Draw(t, "text"))
		value := texts[i]
		if n.name == "template" {
			value += "\n"
		}
		want = append(want, keys[i], value)
	}
	written, ok := n.form(keys, texts)
	if !ok {
		return false
	}
	var meant, got any
	_ = json.Unmarshal([]byte(jsontext.Object(want...)), &meant)
	found := append(Of(written, 0), Literal(written, 0)...)
	for _, r := range found {
		if json.Unmarshal([]byte(r.JSON), &got) == nil && fmt.Sprint(got) == fmt.Sprint(meant) {
			return true
		}
	}
	if len(found) > 0 {
		t.Fatalf("%s: %q is read as %v", n.name, written, found)
	}
	if none(texts, "\"'\\<>&%+=`$「」“”«»▁Ġ，：\r\n\t{}[]:,;|@/") {
		t.Fatalf("%s: %q is not read", n.name, written)
	}
	return false
}

// A reading is valid JSON and an object; valid JSON has none.
func FuzzOf(f *testing.F) {
	for _, s := range []string{`｛"a"：「x」｝`, "{\x00\"\x00a\x00", `▁{"a":▁"x▁y"}`, `<0x0A>{`, `a=b&c=%20`,
		`<a>b</a>`, `a": 1}`, `read(a='x', b=[1])`, "a: 1\nb: 2", `--a x`, `7b7d`, `<f a="b"/>`,
		`{"a": "\u{41}"}`, "\x1b[1m{"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		found := Of(s, 0)
		if json.Valid([]byte(s)) && len(found) > 0 {
			t.Fatalf("valid, but read as %v", found)
		}
		for _, r := range found {
			if !json.Valid([]byte(r.JSON)) || bytes.TrimSpace([]byte(r.JSON))[0] != '{' || len(r.Steps) == 0 {
				t.Fatalf("%q: %+v", s, r)
			}
		}
		for _, r := range Literal(s, 0) {
			if !json.Valid([]byte(r.JSON)) || r.JSON[0] != '{' {
				t.Fatalf("%q: %+v", s, r)
			}
		}
		Begins(s)
		if plain := Carried(s); len(plain) > len(s) {
			t.Fatalf("%q became %q", s, plain)
		}
	})
}
