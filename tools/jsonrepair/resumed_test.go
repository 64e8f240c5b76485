package jsonrepair

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Whatever beginnings of an object stand before it, the object is what was meant.
func TestResumed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("a{}[]:,\"\\ \nß字")))
		object := jsontext.Object("a", text.Draw(t, "a"), "b", text.Draw(t, "b"))
		var b strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			b.WriteString(strings.ToValidUTF8(object[:rapid.IntRange(1, len(object)).Draw(t, "cut")],
				"\ufffd"))
		}
		if got, ok := Resumed(b.String()+object, 10); !ok || got != object {
			t.Fatalf("%s%s: got %s, %v", &b, object, got, ok)
		}
	})
}

func TestNotResumed(t *testing.T) {
	for _, text := range []string{
		"", "{}", `{"a":1}`, `[{"a":1}`, `x{"a":1}`, `{"b{"a":1}`, `{"a":1}{"a":2}`, `{"a":1}{"a":1`,
		`{}{"a":1}`, `{"a":2{"a":1}`, `{"a":{'a':1}`,
		strings.Repeat("{", 1000) + strings.Repeat("}", 1000),
	} {
		if got, ok := Resumed(text, 10); ok {
			t.Errorf("%s: got %s", text, got)
		}
	}
}
