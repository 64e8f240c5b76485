package jsonrepair

import (
	"encoding/json"
	"strings"
	"testing"
)

// hostile are texts that make a careless reader search the rest again and again.
// Each is a beginning, a part to repeat and an end.
var hostile = []struct{ name, begin, part, end string }{
	{"arrays", "", `[`, ""},
	{"objects", "", `{"a":`, ""},
	{"flat objects", "[", `{"a":1,`, ""},
	{"inner quotes", `{"a":"`, `"x"y`, `"}`},
	{"inner quotes, never closed", `{"a":`, `"x"y`, ""},
	{"quotes alone", `{"a":`, `"`, ""},
	{"single quotes", `{"a":`, `'`, ""},
	{"single quoted words", `{"a":'`, `it's `, ""},
	{"backticks", `{"a":`, "`", ""},
	{"curly quotes", `{"a":“`, `“x`, ""},
	{"joined strings", `{"a":`, `"x"+`, `"y"}`},
	{"joined and cut", `{"a":"x`, `"+"`, ""},
	{"missing closing quotes", "{", `"a":"b,`, "}"},
	{"keys that never end", "{", `"a,`, "}"},
	{"missing commas", "{", `"a":"b" `, "}"},
	{"bare members", "{", `a:b,`, ""},
	{"bare lines", "{a:", "b\n", "}"},
	{"bare words", "{a:", "b ", "}"},
	{"bare commas", "{a:", "b,", ""},
	{"bare quotes", "{a:", `b"`, ""},
	{"elements unclosed", "[", `"a,`, "]"},
	{"comments unclosed", `{"a":"`, `"/*`, ""},
	{"comment starts", "[", `/*`, ""},
	{"line comments", `{"a":"`, `"//`, ""},
	{"closers in a string", `{"a":"`, `"}]`, `x"}`},
	{"closers", `{"a":1`, `]}`, ""},
	{"wrong closers", strings.Repeat("[", 200), `}`, ""},
	{"spaces after quotes", `{"a":"`, `"                `, ""},
	{"nested JSON", `{"a":`, `"{"a" `, ""},
	{"nested JSON, closed", `{"a":`, `"{"a"} `, ""},
	{"triple quotes", `{"a":`, `"""x`, ""},
	{"doubled quotes", `{"a":`, `""x""`, ""},
	{"bad escapes", `{"a":"`, `\q`, `"}`},
	{"paths", `{"a":"`, `C:\q`, `"}`},
	{"good paths", `{"a":"`, `C:\n`, `\q"}`},
	{"fences", `{"a":`, "```", ""},
	{"prose", "", "see {x} and [y] ", ""},
	{"braces of prose", "", "x{", ""},
	{"wrappers", `{"a":`, "(", ""},
	{"constructors", `{"a":`, "A(1", ""},
	{"colons", `{"a"`, ":", ""},
	{"commas", `{"a":1`, ",", ""},
	{"ellipses", `[`, "...", ""},
	{"stray words", `{"a":1,`, `A "b" `, ""},
	{"long number", `{"a":`, "1", "x}}}}}}"},
	{"digits and closers", "1", "1}", ""},
	{"spaces", `{"a":1`, " ", ""},
	{"wide spaces", `{"a":1`, "\u00a0", ""},
	{"early closers", `{"a":1`, `},"b":2`, ""},
	{"sequence", ``, "{}\n", ""},
	{"escaped root", `{\"a\":`, `\"x`, ""},
}

// grown is the text of a hostile case, about n bytes long.
func grown(begin, part, end string, n int) string {
	return begin + strings.Repeat(part, n/len(part)) + end
}

// TestRepairIsLinear counts the bytes that reading looks at, so that it holds on
// a slow machine too: four times the text may cost four times the work.
func TestRepairIsLinear(t *testing.T) {
	work := func(text string) int {
		m := mender{text: text, maxDepth: 10000} // as deep as encoding/json reads
		if got, err := m.mend(); err == nil && !json.Valid(got.JSON) {
			t.Errorf("%.80s is no JSON", got.JSON)
		}
		return m.work + len(text)
	}
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			small, big := grown(h.begin, h.part, h.end, 16<<10), grown(h.begin, h.part, h.end, 64<<10)
			a, b := work(small), work(big)
			if b > 5*a || b > 20*len(big) {
				t.Errorf("16 KB cost %d, 64 KB %d", a, b)
			}
		})
	}
}

func BenchmarkRepairHostile(b *testing.B) {
	for _, h := range hostile {
		text := grown(h.begin, h.part, h.end, 64<<10)
		b.Run(h.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Repair(text, 0) // an error is a result, too
			}
		})
	}
}
