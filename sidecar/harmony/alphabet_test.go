package harmony_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

func shipped() *harmony.Alphabet {
	return harmony.NewAlphabet(harmony.TokenSigns{Open: "‹〈⟨", Bar: "¦│∣", Close: "›〉⟩"})
}

var tokens = []harmony.Token{harmony.Start, harmony.Channel, harmony.Message, harmony.Constrain, harmony.End,
	harmony.Call, harmony.Return}

func TestSpellings(t *testing.T) {
	for _, c := range []struct {
		text string
		want harmony.Token
		n    int // 0: all of it
	}{
		{"<|start|>", harmony.Start, 0},
		{"<|channel|>commentary", harmony.Channel, len("<|channel|>")},
		{"<｜message｜>", harmony.Message, 0},
		{"＜｜ｃａｌｌ｜＞", harmony.Call, 0},
		{"&lt;|constrain|&gt;", harmony.Constrain, 0},
		{"&#60;&#x7c;end&#124;&#x3E;", harmony.End, 0},
		{"&amp;lt;|end|&amp;gt;", harmony.End, 0},
		{`\u003c|return|\u003e`, harmony.Return, 0},
		{`\\u003C|return|\\u003E`, harmony.Return, 0},
		{`\<\|channel\|\>`, harmony.Channel, 0},
		{"%3C%7Ccall%7C%3E", harmony.Call, 0},
		{"<| message |>", harmony.Message, 0},
		{"< | message | >", harmony.Message, 0},
		{"<|reserved_200006|>", harmony.Start, 0},
		{"[PAD200006]", harmony.None, 0}, // in a reply that has such brackets it is
		{"<|reserved_200012|>x", harmony.Call, len("<|reserved_200012|>")},
		{"<|Message|>", harmony.Message, 0},
		{"<|CHANNEL|>", harmony.Channel, 0},
		{"<\u200b|chan\u200bnel|\ufeff>", harmony.Channel, 0},
		{"⟨│start│⟩", harmony.Start, 0},
		{"<||end||>", harmony.End, 0},
		{"<|chanel|>", harmony.Channel, 0},
		{"<|mesasge|>", harmony.Message, 0},
		{"<|channels|>", harmony.Channel, 0},
		{"<|channel>final", harmony.Channel, len("<|channel>")},
		{"<|channel|final", harmony.Channel, len("<|channel|")},
		{"<channel|>", harmony.Channel, 0},
		{"|channel|>", harmony.Channel, 0},
		{"<|channel final", harmony.Channel, len("<|channel")},
		{"<|call| and", harmony.Call, len("<|call|")},

		{"<start>", harmony.None, 0},
		{"|start|end|", harmony.None, 0},
		{"<|starter|x", harmony.None, 0},
		{"<|end_of_text|>", harmony.None, 0},
		{"<|im_start|>", harmony.Start, 0},
		{"<|im_sep|>", harmony.Message, 0},
		{"<|im_end|>", harmony.Return, 0},
		{"<|endoftext|>", harmony.Return, 0},
		{"<|fim_suffix|>", harmony.Return, 0}, {"<|fim_nothing|>", harmony.None, 0},
		{"<|im_art|>", harmony.None, 0},
		{"<|calm|>", harmony.None, 0},
		{"<b>", harmony.None, 0},
		{"&amp; more", harmony.None, 0},
		{"100% sure", harmony.None, 0},
		{`\n`, harmony.None, 0},
		{"，全角", harmony.None, 0},
		{"call", harmony.None, 0},
		{"| call | end |", harmony.None, 0},
	} {
		n := c.n
		if n == 0 && c.want != harmony.None {
			n = len(c.text)
		}
		got, is := shipped().At(c.text, true)
		if (is == scan.Yes) != (c.want != harmony.None) || got.Token != c.want || got.N != n {
			t.Errorf("%q: %v of %d bytes (verdict %d), want %v of %d", c.text, got.Token, got.N, is, c.want,
				n)
		}
		if exact := strings.HasPrefix(c.text, c.want.String()); got.Exact != (exact &&
			c.want != harmony.None) {
			t.Errorf("%q: exact %v", c.text, got.Exact)
		}
	}
}

// spelled is a token, each sign of it in a way drawn from rnd.
func spelled(rnd *rand.Rand, tok harmony.Token) string {
	var b strings.Builder
	for _, c := range []byte(tok.String()) {
		ways := []string{string(rune(c)), string(rune(c) - '!' + '！'), fmt.Sprintf("&#%d;", c),
			fmt.Sprintf("&#x%X;", c), fmt.Sprintf(`\u%04x`, c), fmt.Sprintf("%%%02X", c),
			string(rune(c)) + "\u200b"}
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
		if got, is := shipped().At(text+"x", false); is != scan.Yes || got.Token != tok ||
			got.N != len(text) {
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
	for _, s := range []string{"<", "<|", "&l", "<|end", "<|end|", "|call|>", "<|end| ", "<|chan\u200b",
		"<|startx|>", "&amp;amp;lt;", "[call]x", "[chan", "[[end]", `\\\\u003c`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := shipped()
		if len(s)%2 == 1 {
			a = a.Within(harmony.Brackets{Open: "[", Close: "]"})
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
	if f.Token != harmony.End || text[at:at+f.N] != "&lt;|end|&gt;" {
		t.Errorf("any spelling: %+v at %d", f, at)
	}
	if at, f, _ = a.Find(text, 0, true); f.Token != harmony.Call || text[at:at+f.N] != "<|call|>" {
		t.Errorf("whole ones: %+v at %d", f, at)
	}
	if at, _, open := a.Find(text, at+f.N, true); at >= 0 || text[open:] != "<|cal" {
		t.Errorf("the tail: %d, open at %q", at, text[open:])
	}
}
