package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

const prose = "The quick check of the directory listing shows \"main.go\" and a file called notes.md;\nwe need to read it first, then call the tool. – Größe: 12 KB. "

func textOf(n int) string { return strings.Repeat(prose, n/len(prose)+1)[:n] }

func benchRead(b *testing.B, text string, piece int) {
	benchWith(b, shipped.Strategies(""), text, piece)
}

func benchWith(b *testing.B, s *parse.Strategies, text string, piece int) {
	c := offeredForFuzz()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r := s.Reader(c, parse.Facts{})
		for i := 0; i < len(text); i += piece {
			r.Feed(parse.Delta{Content: text[i:min(len(text), i+piece)]})
		}
		if got, _ := r.Close("stop"); got.Finish == "" {
			b.Fatal("nothing was read")
		}
	}
}

// The pieces are 4 bytes, about a token. BenchmarkCopy is the baseline: the same
// pieces, only put together.
func BenchmarkClean2KBStreamed(b *testing.B)  { benchRead(b, textOf(2<<10), 4) }
func BenchmarkClean64KBStreamed(b *testing.B) { benchRead(b, textOf(64<<10), 4) }
func BenchmarkClean2KBWhole(b *testing.B)     { benchRead(b, textOf(2<<10), 1<<20) }
func BenchmarkClean8KBWhole(b *testing.B)     { benchRead(b, textOf(8<<10), 1<<20) }
func BenchmarkClean64KBWhole(b *testing.B)    { benchRead(b, textOf(64<<10), 1<<20) }

func BenchmarkHarmony2KBStreamed(b *testing.B) {
	benchRead(b, `<|channel|>analysis<|message|>`+textOf(1<<10)+
		`<|end|><|start|>assistant<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{"command":"`+strings.Repeat("echo hello; ", 80)+`"}<|call|>`, 4)
}

func BenchmarkHarmony64KBStreamed(b *testing.B) {
	benchRead(b, `<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{"command":"`+
		strings.Repeat("echo hello; ", 5400)+`"}<|call|>`, 4)
}

func BenchmarkCopy2KBStreamed(b *testing.B) {
	text := textOf(2 << 10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var out strings.Builder
		for i := 0; i < len(text); i += 4 {
			out.WriteString(text[i:min(len(text), i+4)])
		}
		if out.Len() != len(text) {
			b.Fatal("lost bytes")
		}
	}
}

// With a hundred more rules whose literals do not occur, clean text must cost next
// to nothing more.
func manyRules(b *testing.B) *parse.Strategies {
	list := []parse.Strategy{harmonyFrames(nil), markers(nil)}
	for i := range 100 {
		open := fmt.Sprintf("%c%c_CALL%02d:", 'A'+i%26, 'A'+i%25, i)
		if i%2 == 0 {
			open = fmt.Sprintf("<tool-%02d>", i)
		}
		list = append(list, block("{object}", open, "</end>"))
	}
	return compiled(b, list...)
}

func BenchmarkManyRulesClean2KBWhole(b *testing.B)    { benchWith(b, manyRules(b), textOf(2<<10), 1<<20) }
func BenchmarkManyRulesClean8KBWhole(b *testing.B)    { benchWith(b, manyRules(b), textOf(8<<10), 1<<20) }
func BenchmarkManyRulesClean2KBStreamed(b *testing.B) { benchWith(b, manyRules(b), textOf(2<<10), 4) }

// 64 KB of what markup begins with is the worst that a reply can hold.
func BenchmarkHostile64KB(b *testing.B) {
	for _, unit := range []string{"<|start|>", "[", `"x"y`} {
		b.Run(unit, func(b *testing.B) { benchRead(b, strings.Repeat(unit, 64<<10/len(unit)), 4) })
	}
}
