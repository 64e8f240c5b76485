package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for _, row := range []struct{ doc, want string }{
		{`""`, ""},
		{`"plain"`, "plain"},
		{`"Größe – 12"`, "Größe – 12"},
		{`"a\"b\\c\/d\b\f\n\r\te"`, "a\"b\\c/d\b\f\n\r\te"},
		{`"\u00e9\u20AC"`, "é€"},
		{`"\ud83d\ude00!"`, "😀!"},
		{`"\ud83d"`, "\ufffd"},
		{`"\ud83dx"`, "\ufffdx"},
		{`"\ud83d\u0041"`, "\ufffdA"},
		{`"\ude00\ud83d\ude00"`, "\ufffd😀"},
		{"\"a\xffb\xc3\"", "a\ufffdb\ufffd"},
		{"\"\xff\xff\\n\"", "\ufffd\ufffd\n"},
		{`"<|channel|>&'"`, "<|channel|>&'"},
	} {
		if got, ok := Text([]byte(row.doc), Span{0, len(row.doc)}); !ok || got != row.want {
			t.Errorf("%s: %q, %v", row.doc, got, ok)
		}
		if got := UnquoteBytes([]byte(row.doc[1 : len(row.doc)-1])); string(got) != row.want {
			t.Errorf("%s: %q", row.doc, got)
		}
	}
	for _, doc := range []string{`null`, `1`, `{}`, `["a"]`, `"`} {
		if got, ok := Text([]byte(doc), Span{0, len(doc)}); ok {
			t.Errorf("%s: %q is no text", doc, got)
		}
	}
	if _, ok := Text([]byte(`"a"`), Span{}); ok {
		t.Error("an absent value has text")
	}
}

func TestAppendString(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"", `""`},
		{"plain text, long enough", `"plain text, long enough"`},
		{"<a href=\"x\">&</a>", `"<a href=\"x\">&</a>"`},
		{"\\ \b\f\n\r\t\x00\x1f\x7f", `"\\ \b\f\n\r\t\u0000\u001f` + "\x7f\""},
		{"é€😀\u2028", "\"é€😀\u2028\""},
		{"a\xff\xc3b", "\"a\ufffd\ufffdb\""},
	} {
		for _, got := range [][]byte{AppendString([]byte("x"), row.text),
			AppendBytes([]byte("x"), []byte(row.text))} {
			if string(got) != "x"+row.want {
				t.Errorf("%q: %s, want %s", row.text, got, row.want)
			}
		}
	}
}

// What a block gave stays as it is, whatever it decodes next.
func TestBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raws := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.SampledFrom([]string{"a", `\n`, `\ud83d`, "\xff", "ö"}).Draw(t, "unit"),
				rapid.IntRange(0, 400).Draw(t, "times"))
		}), 1, 50).Draw(t, "raw")
		var b Block
		texts, all := make([]string, len(raws)), make([][]byte, len(raws))
		for i, raw := range raws {
			texts[i], all[i] = b.Text([]byte(raw)), b.Bytes([]byte(raw))
			_ = append(all[i], "behind"...)
		}
		for i, raw := range raws {
			if want := Unquote([]byte(raw)); texts[i] != want || string(all[i]) != want {
				t.Fatalf("%q: %q and %q, want %q", raw, texts[i], all[i], want)
			}
		}
	})
}

// FuzzText: any text survives the way there and back, and encoding/json reads the
// same from what we write, and we the same from what it does.
func FuzzText(f *testing.F) {
	for _, text := range []string{"", "a\"b\\c", "\x00\x1f é€😀\u2028", "a\xffb\xed\xa0\x80",
		`\ud83d\ude00\ud800\u12`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc := AppendString(nil, text)
		var want string
		if err := json.Unmarshal(doc, &want); err != nil || !utf8.Valid(doc) {
			t.Fatalf("%q becomes %q: %v", text, doc, err)
		}
		if got, _ := Text(doc, Span{0, len(doc)}); got != want || want != string([]rune(text)) {
			t.Fatalf("%q comes back as %q, encoding/json has %q", text, got, want)
		}
		quoted := []byte(`"` + text + `"`)
		if json.Unmarshal(quoted, &want) == nil {
			if got, _ := Text(quoted, Span{0, len(quoted)}); got != want {
				t.Fatalf("%q reads as %q, encoding/json has %q", quoted, got, want)
			}
		}
		_ = Unquote([]byte(text)) // no text may make it fail
	})
}
