package jsontext

import (
	"strings"
	"testing"
)

// code is a string as it stands in the arguments of a call, encoded so many times.
func code(n, times int) []byte {
	const lines = "    if (await run(\"main.ts\")) { // Größe: 12 KB\n        throw new Error(name + ': not run')\n    }\n"
	text := []byte(strings.Repeat(lines, n/len(lines)+1)[:n])
	for range times {
		text = AppendString(nil, string(text))
	}
	return text
}

func BenchmarkCode(b *testing.B) {
	const size = 8 << 10
	for _, row := range []struct {
		name string
		doc  []byte
	}{{"once", code(size, 1)}, {"twice", code(size, 2)},
		{"plain", []byte(`"` + strings.Repeat("a b c – ", size/10) + `"`)}} {
		run := func(name string, do func()) {
			b.Run(row.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(row.doc)))
				b.ReportAllocs()
				for b.Loop() {
					do()
				}
			})
		}
		run("skip", func() { s := Scanner{Doc: row.doc}; s.Skip() })
		run("text", func() { Text(row.doc, Span{To: len(row.doc)}) })
		text, _ := Text(row.doc, Span{To: len(row.doc)})
		dst := make([]byte, 0, 3*size)
		run("append", func() { dst = AppendString(dst[:0], text) })
	}
}
