package tools

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	numbered := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "line %d\n", i+1)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		text   string
		bounds TrimBounds
		want   string
	}{
		"it fits": {"hello", TrimBounds{Chars: 200}, "hello"},
		"head and tail": {strings.Repeat("a", 300) + strings.Repeat("b", 300),
			TrimBounds{Chars: 240, Head: 0.5, Hint: "Read on."},
			strings.Repeat("a", 98) + "\n[404 of 600 characters left out. Read on.]\n" + strings.Repeat("b",
				98)},
		"lines": {numbered(10), TrimBounds{HeadLines: 2, TailLines: 1},
			"line 1\nline 2\n\n[7 of 10 lines left out]\nline 10\n"},
		"characters count, not bytes": {strings.Repeat("ü", 250), TrimBounds{Chars: 250}, strings.Repeat("ü", 250)},
		"a URL is not cut": {strings.Repeat("x ", 80) +
			"https://example.com/" + strings.Repeat("p", 300), TrimBounds{Chars: 240, Head: 1},
			strings.Repeat("x ", 80) + "\n[320 of 480 characters left out]\n"},
		"a list": {`{"results":[{"url":"https://a.example/1","text":"` + strings.Repeat("word ", 80) + `"},{"url":"https://a.example/2","text":"b"},{"url":"https://a.example/3","text":"c"}]}`,
			TrimBounds{Chars: 250, Items: 2, Strings: 20},
			`{"results":[{"url":"https://a.example/1","text":"word word word word …"},{"url":"https://a.example/2","text":"b"},"… 1 more left out"]}`},
	} {
		if got, cut := Trim(c.text, c.bounds); got != c.want || cut != (c.text != c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

var link = regexp.MustCompile(`https?://[^\s"'<>()\[\]{}]+`)

// hold checks what holds for every text that was shortened.
func hold(t *rapid.T, text, out string, b TrimBounds) {
	if n := utf8.RuneCountInString(out); b.Chars > 0 && n > b.Chars {
		t.Fatalf("%d characters, and at most %d are allowed: %q", n, b.Chars, out)
	}
	if !utf8.ValidString(out) && utf8.ValidString(text) {
		t.Fatalf("%q is no UTF-8", out)
	}
	trimmed := strings.TrimSpace(text)
	if json.Valid([]byte(trimmed)) && trimmed != "" && strings.ContainsAny(trimmed[:1], "[{") &&
		!json.Valid([]byte(out)) {
		t.Fatalf("%q was JSON, and %q is none", text, out)
	}
	whole := map[string]bool{}
	for _, u := range link.FindAllString(text, -1) {
		whole[u] = true
	}
	for _, u := range link.FindAllString(out, -1) {
		if !whole[strings.TrimSuffix(u, "…")] {
			t.Fatalf("%q is no URL of the text", u)
		}
	}
	if again, _ := Trim(text, b); again != out {
		t.Fatalf("the same text gives %q, and then %q", out, again)
	}
}

func trimBounds(t *rapid.T) TrimBounds {
	return TrimBounds{
		Chars: rapid.IntRange(MinTrim, 2000).Draw(t, "chars"), Head: rapid.Float64Range(0, 1).Draw(t,
			"head"),
		HeadLines: rapid.IntRange(0, 20).Draw(t, "head lines"), TailLines: rapid.IntRange(0, 20).Draw(t,
			"tail lines"),
		Items: rapid.IntRange(0, 6).Draw(t, "items"), Strings: rapid.IntRange(0, 300).Draw(t, "strings"),
		Hint: rapid.SampledFrom([]string{"", "Read on."}).Draw(t, "hint"),
	}
}

func TestTextHolds(t *testing.T) {
	word := rapid.OneOf(rapid.String(), rapid.StringMatching(`https?://[a-z]{1,8}\.example/[a-z0-9/]{0,80}`),
		rapid.Just("\n"), rapid.StringMatching(`[a-zäöü]{1,30}`))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(word, 0, 200).Draw(t, "words"), " ")
		b := trimBounds(t)
		out, _ := Trim(text, b)
		hold(t, text, out, b)
	})
}

func TestDocumentHolds(t *testing.T) {
	text := rapid.OneOf(rapid.StringN(0, 500, -1),
		rapid.StringMatching(`https://[a-z]{1,8}\.example/[a-z0-9/]{0,80}`))
	value := rapid.Custom(func(t *rapid.T) any {
		return map[string]any{"title": text.Draw(t, "title"), "url": text.Draw(t, "url"),
			"n": rapid.Int().Draw(t, "n"), "deep": []any{map[string]any{"a": text.Draw(t, "a")}}}
	})
	rapid.Check(t, func(t *rapid.T) {
		doc, err := json.Marshal(map[string]any{"results": rapid.SliceOfN(value, 0, 30).Draw(t, "results"),
			"more": text.Draw(t, "more")})
		if err != nil {
			t.Fatal(err)
		}
		b := trimBounds(t)
		out, cut := Trim(string(doc), b)
		hold(t, string(doc), out, b)
		if !cut && out != string(doc) {
			t.Fatalf("%q changed without a cut", out)
		}
	})
}

func TestBlocksHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.StringN(0, 3000, -1), 1, 6).Draw(t, "parts")
		b := trimBounds(t)
		out, _ := TrimBlocks(parts, b)
		all := 0
		for _, p := range out {
			all += utf8.RuneCountInString(p)
		}
		if all > b.Chars {
			t.Fatalf("%d characters, and at most %d are allowed", all, b.Chars)
		}
	})
}

func FuzzText(f *testing.F) {
	f.Add(`{"a":["https://x.example/y"]}`, 200, 1)
	f.Fuzz(func(t *testing.T, text string, chars, items int) {
		b := TrimBounds{Chars: max(chars%5000, MinTrim), Items: items % 10, Head: 0.6, Strings: 50}
		if out, _ := Trim(text, b); utf8.RuneCountInString(out) > b.Chars {
			t.Fatalf("%d characters of %d", utf8.RuneCountInString(out), b.Chars)
		}
	})
}
