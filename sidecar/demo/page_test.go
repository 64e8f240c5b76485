package demo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPair(t *testing.T) {
	left := []line{{"one two three four five six seven eight nine ten", normal}, {"", normal}, {"bad", red}}
	right := []line{{strings.Repeat("é", 70), bold}}
	for _, c := range []struct {
		name string
		look Look
		want string
	}{
		{"plain", Look{}, "\nid: about\n  left     one two three four five six seven eight nine ten\n\n           bad\n  right    " + right[0].text + "\n"},
		{"columns", Look{Width: 65}, "\nid  about\n  one two three four five six    │ " + strings.Repeat("é", 30) + "\n  seven eight nine ten           │ " +
			strings.Repeat("é", 30) + "\n                                 │ " + strings.Repeat("é", 10) + "\n  bad                            │\n"},
	} {
		var out bytes.Buffer
		p := page{out: &out, look: c.look, left: "left side", right: "right side"}
		p.pair("id", "about", left, right)
		if out.String() != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, &out, c.want)
		}
		for row := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(row) - 1; c.look.Width > 0 && n > c.look.Width {
				t.Errorf("%s: a row of %d columns: %s", c.name, n, row)
			}
		}
	}
}

func TestPaint(t *testing.T) {
	for _, c := range []struct {
		look Look
		in   ink
		want string
	}{
		{Look{Colour: true}, red, "\x1b[31mx\x1b[0m"},
		{Look{Colour: true}, normal, "x"},
		{Look{}, red, "x"},
	} {
		p := page{look: c.look}
		if got := p.paint("x", c.in); got != c.want {
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
