package header_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/header"
)

func shipped() *header.Alphabet {
	return header.NewAlphabet(header.TokenSigns{Open: "‹〈⟨", Bar: "¦│∣", Close: "›〉⟩"})
}

var tokens = []header.Token{header.Start, header.Channel, header.Message, header.Constrain, header.End, header.Call, header.Return}

func TestSpellings(t *testing.T) {
	for _, c := range []struct {
		text string
		want header.Token
		n    int // 0: all of it
	}{
		{"<|start|>", header.Start, 0},
		{"<|channel|>commentary", header.Channel, len("<|channel|>")},
		{"<｜message｜>", header.Message, 0},
		{"＜｜ｃａｌｌ｜＞", header.Call, 0},
		{"&lt;|constrain|&gt;", header.Constrain, 0},
		{"&#60;&#x7c;end&#124;&#x3E;", header.End, 0},
		{"&amp;lt;|end|&amp;gt;", header.End, 0},
		{`\u003c|return|\u003e`, header.Return, 0},
		{`\\u003C|return|\\u003E`, header.Return, 0},
		{`\<\|channel\|\>`, header.Channel, 0},
		{"%3C%7Ccall%7C%3E", header.Call, 0},
		{"<| message |>", header.Message, 0},
		{"< | message | >", header.Message, 0},
		{"<|reserved_200006|>", header.Start, 0},
		{"[PAD200006]", header.None, 0}, // in a reply that has such brackets it is
		{"<|reserved_200012|>x", header.Call, len("<|reserved_200012|>")},
		{"<|Message|>", header.Message, 0},
		{"<|CHANNEL|>", header.Channel, 0},
		{"<\u200b|chan\u200bnel|\ufeff>", header.Channel, 0},
		{"⟨│start│⟩", header.Start, 0},
		{"<||end||>", header.End, 0},
		{"<|chanel|>", header.Channel, 0},
		{"<|mesasge|>", header.Message, 0},
		{"<|channels|>", header.Channel, 0},
		{"<|channel>final", header.Channel, len("<|channel>")},
		{"<|channel|final", header.Channel, len("<|channel|")},
		{"<channel|>", header.Channel, 0},
		{"|channel|>", header.Channel, 0},
		{"<|channel final", header.Channel, len("<|channel")},
		{"<|call| and", header.Call, len("<|call|")},

		{"<start>", header.None, 0},
		{"|start|end|", header.None, 0},
		{"<|starter|x", header.None, 0},
		{"<|end_of_text|>", header.None, 0},
		{"<|im_start|>", header.Start, 0},
		{"<|im_sep|>", header.Message, 0},
		{"<|im_end|>", header.Return, 0},
		{"<|endoftext|>", header.Return, 0},
		{"<|fim_suffix|>", header.Return, 0}, {"<|fim_nothing|>", header.None, 0},
		{"<|im_art|>", header.None, 0},
		{"<|calm|>", header.None, 0},
		{"<b>", header.None, 0},
		{"&amp; more", header.None, 0},
		{"100% sure", header.None, 0},
		{`\n`, header.None, 0},
		{"，全角", header.None, 0},
		{"call", header.None, 0},
		{"| call | end |", header.None, 0},
	} {
		n := c.n
		if n == 0 && c.want != header.None {
			n = len(c.text)
		}
		got, is := shipped().At(c.text, true)
		if (is == scan.Yes) != (c.want != header.None) || got.Token != c.want || got.N != n {
			t.Errorf("%q: %v of %d bytes (verdict %d), want %v of %d", c.text, got.Token, got.N, is, c.want, n)
		}
		if exact := strings.HasPrefix(c.text, c.want.String()); got.Exact != (exact && c.want != header.None) {
			t.Errorf("%q: exact %v", c.text, got.Exact)
		}
	}
}

// spelled is a token, each sign of it in a way drawn from rnd.
func spelled(rnd *rand.Rand, tok header.Token) string {
	var b strings.Builder
	for _, c := range []byte(tok.String()) {
		ways := []string{string(rune(c)), string(rune(c) - '!' + '！'), fmt.Sprintf("&#%d;", c), fmt.Sprintf("&#x%X;", c), fmt.Sprintf(`\u%04x`, c), fmt.Sprintf("%%%02X", c), string(rune(c)) + "\u200b"}
		if c >= 'a' {
			ways = append(ways, strings.ToUpper(string(rune(c))))
		}
		b.WriteString(ways[rnd.IntN(len(ways))])
	}
	return strings.TrimSuffix(b.String(), "\u200b")
}

func TestAnyMixtureOfSpellingsIsTheToken(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		tok := tokens[rnd.IntN(len(tokens))]
		text := spelled(rnd, tok)
		if got, is := shipped().At(text+"x", false); is != scan.Yes || got.Token != tok || got.N != len(text) {
			t.Fatalf("%q: %v of %d bytes (verdict %d), want %v", text, got.Token, got.N, is, tok)
		}
	}
}

// What a look at a beginning says, a look at more of the text never takes back.
func FuzzAt(f *testing.F) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		f.Add(spelled(rnd, tokens[rnd.IntN(len(tokens))]) + " text")
	}
	for _, s := range []string{"<", "<|", "&l", "<|end", "<|end|", "|call|>", "<|end| ", "<|chan\u200b", "<|startx|>", "&amp;amp;lt;", "[call]x", "[chan", "[[end]", `\\\\u003c`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := shipped()
		if len(s)%2 == 1 {
			a = a.Within(header.Brackets{Open: "[", Close: "]"})
		}
		whole, verdict := a.At(s, true)
		for n := 1; n <= len(s); n++ {
			got, is := a.At(s[:n], false)
			if is == scan.Wait {
				continue
			}
			if is != verdict || got != whole {
				t.Fatalf("%q: after %d bytes %+v (%d), at the end %+v (%d)", s, n, got, is, whole, verdict)
			}
		}
		if verdict == scan.Yes && (whole.N < 4 || whole.N > len(s)) {
			t.Fatalf("%q: %+v", s, whole)
		}
		if a.Plain([]byte(s)) {
			if at, f, open := a.Find(s, 0, false); at >= 0 || open < len(s) && s[open] != '\\' {
				t.Fatalf("%q is called plain, and holds %+v at %d (open %d)", s, f, at, open)
			}
		}
	})
}

func TestFind(t *testing.T) {
	a := shipped()
	text := "one &lt;|end|&gt; two <|call|> three <|cal"
	at, f, _ := a.Find(text, 0, false)
	if f.Token != header.End || text[at:at+f.N] != "&lt;|end|&gt;" {
		t.Errorf("any spelling: %+v at %d", f, at)
	}
	if at, f, _ = a.Find(text, 0, true); f.Token != header.Call || text[at:at+f.N] != "<|call|>" {
		t.Errorf("whole ones: %+v at %d", f, at)
	}
	if at, _, open := a.Find(text, at+f.N, true); at >= 0 || text[open:] != "<|cal" {
		t.Errorf("the tail: %d, open at %q", at, text[open:])
	}
}
