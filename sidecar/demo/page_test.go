package demo

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

func TestPair(t *testing.T) {
	left := []line{{"one two three four five six seven eight nine ten", terminal.Plain}, {"", terminal.Plain}, {"bad", terminal.Red}}
	right := []line{{strings.Repeat("é", 70), terminal.Bold}}
	for _, c := range []struct {
		name string
		look terminal.Look
		want string
	}{
		{"plain", terminal.Look{}, "\nid: about\n  left     one two three four five six seven eight nine ten\n\n           bad\n  right    " + right[0].text + "\n"},
		{"columns", terminal.Look{Width: 65}, "\nid  about\n  one two three four five six    │ " + strings.Repeat("é", 30) + "\n  seven eight nine ten           │ " +
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
