package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestColumns(t *testing.T) {
	a := []row{
		{"rules 1", "", plain},
		{"  markers  60  refused: not_offered: fly: no tool is offered by this name, and the line is long", "strategies.yaml:3", red},
		{"    same again", "aliases.yaml:4", plain},
		{"    only here", "", plain},
		{"content \"你好\"", "", plain},
		{"finish stop", "", plain},
	}
	b := []row{
		{"rules 2", "", plain},
		{"  markers  60  found 1 call", "strategies.yaml:9", green},
		{"    same again", "aliases.yaml:44", plain},
		{"content \"你好\"", "", plain},
		{"    only there", "x.yaml:1", bold},
		{"finish stop", "", plain},
	}
	var out bytes.Buffer
	for _, look := range []terminal.Look{{Width: 120}, {Width: 130, Colour: true}, {Width: 80}, {}} {
		fmt.Fprintf(&out, "-- %d columns, colour %v --\n", look.Width, look.Colour)
		paper{&out, look}.pair("old", "new", a, b)
	}
	const golden = "testdata/columns.txt"
	got := strings.ReplaceAll(out.String(), "\x1b", "^")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("-want +got:\n%s", cmp.Diff(string(want), got))
	}
}

func TestAlign(t *testing.T) {
	of := func(s string) (list []row) {
		for _, c := range strings.Split(s, "") {
			list = append(list, row{text: c})
		}
		return list
	}
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"abc", "abc", "aa bb cc"},
		{"abc", "axc", "aa bx cc"},
		{"abc", "ac", "aa b- cc"},
		{"ac", "abbc", "aa -b -b cc"},
		{"abcd", "xbcy", "ax bb cc dy"},
		{"ab", "ba", "a- bb -a"},
		{"", "ab", "-a -b"},
	} {
		var got []string
		for _, s := range align(of(c.a), of(c.b)) {
			pair := ""
			for _, r := range []*row{s.a, s.b} {
				if r == nil {
					r = &row{text: "-"}
				}
				pair += r.text
			}
			got = append(got, pair)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s against %s: %s, want %s", c.a, c.b, strings.Join(got, " "), c.want)
		}
	}
	long := strings.Repeat("ab", 3000)
	if got := align(of(long), of("x"+long)); len(got) != 6001 {
		t.Errorf("%d lines of a long pair", len(got))
	}
}

func TestWrapped(t *testing.T) {
	if n := len(wrapped(row{text: strings.Repeat("x", 4<<20)}, 60)); n < 70_000 { // and it takes no minutes
		t.Errorf("%d lines", n)
	}
	deep := row{text: strings.Repeat(" ", 90) + strings.Repeat("word ", 30), place: "a.yaml:1"}
	for _, width := range []int{10, 40, 60} {
		joined := ""
		for _, piece := range wrapped(deep, width) {
			if utf8.RuneCountInString(piece) > width {
				t.Errorf("%q is wider than %d", piece, width)
			}
			joined += piece
		}
		if squeeze := strings.ReplaceAll(joined, " ", ""); squeeze != strings.Repeat("word", 30)+"a.yaml:1" {
			t.Errorf("width %d: %s", width, squeeze)
		}
	}
}
