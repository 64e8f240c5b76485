package terminal

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPaint(t *testing.T) {
	for _, c := range []struct {
		colours Colours
		in      Ink
		want    string
	}{
		{true, Red, "\x1b[31mx\x1b[0m"},
		{true, Plain, "x"},
		{false, Red, "x"},
	} {
		if got := c.colours.Paint("x", c.in); got != c.want {
			t.Errorf("%v %q: %q", c.colours, c.in, got)
		}
	}
}

func TestWanted(t *testing.T) {
	for env, want := range map[string]Colours{"": true, "TERM=xterm": true, "NO_COLOR=1": false,
		"NO_COLOR=": true, "TERM=dumb": false} {
		got := wanted(func(name string) (string, bool) {
			if value, ok := strings.CutPrefix(env, name+"="); ok {
				return value, true
			}
			return "", false
		})
		if got != want {
			t.Errorf("%q: %v, want %v", env, got, want)
		}
	}
}

func TestNoTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	none := func(string) (string, bool) { return "", false }
	if ColoursOf(f, none) || ColoursOf(new(bytes.Buffer), none) {
		t.Error("colours in a file or a buffer")
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain → é 你":      "plain → é 你",
		"a\x1b[31mb\nc\td": `a\x1b[31mb\nc\td`,
		"a\u202eb\u200b":   `a\u202eb\u200b`,
		"bad\xff":          `bad\ufffd`,
		`it's "quoted" \ `: `it's "quoted" \ `,
	} {
		if got := Printable(in); got != want || !utf8.ValidString(got) {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
