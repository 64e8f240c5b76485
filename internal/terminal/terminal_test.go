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
		look Look
		in   Ink
		want string
	}{
		{Look{Colour: true}, Red, "\x1b[31mx\x1b[0m"},
		{Look{Colour: true}, Plain, "x"},
		{Look{}, Red, "x"},
	} {
		if got := c.look.Paint("x", c.in); got != c.want {
			t.Errorf("%+v %q: %q", c.look, c.in, got)
		}
	}
}

func TestLook(t *testing.T) {
	for _, c := range []struct {
		width int
		env   string
		want  Look
	}{
		{120, "TERM=xterm", Look{120, true}},
		{0, "TERM=xterm", Look{usual, true}},
		{400, "", Look{wide, true}},
		{40, "", Look{0, true}},
		{120, "NO_COLOR=1", Look{120, false}},
		{120, "NO_COLOR=", Look{120, true}},
		{120, "TERM=dumb", Look{120, false}},
		{120, "COLUMNS=80", Look{80, true}},
		{120, "COLUMNS=many", Look{120, true}},
	} {
		got := lookAt(c.width, func(name string) (string, bool) {
			if value, ok := strings.CutPrefix(c.env, name+"="); ok {
				return value, true
			}
			return "", false
		})
		if got != c.want {
			t.Errorf("%d columns, %q: %+v, want %+v", c.width, c.env, got, c.want)
		}
	}
}

func TestLookOfNoTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	none := func(string) (string, bool) { return "", false }
	if got := LookOf(f, none); got != (Look{}) {
		t.Errorf("a file: %+v", got)
	}
	if got := LookOf(new(bytes.Buffer), none); got != (Look{}) {
		t.Errorf("a buffer: %+v", got)
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
