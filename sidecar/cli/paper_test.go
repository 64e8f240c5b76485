package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestDifference(t *testing.T) {
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
	for _, colours := range []terminal.Colours{true, false} {
		fmt.Fprintf(&out, "-- colour %v --\n", colours)
		paper{&out, colours}.difference("old", "new", a, b)
	}
	const golden = "testdata/difference.txt"
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

func TestDiffer(t *testing.T) {
	of := func(s string) (list []row) {
		for _, c := range strings.Split(s, "") {
			list = append(list, row{text: c})
		}
		return list
	}
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"abc", "abc", "a b c"},
		{"abc", "axc", "a -b +x c"},
		{"abc", "ac", "a -b c"},
		{"ac", "abbc", "a +b +b c"},
		{"abcd", "xbcy", "-a +x b c -d +y"},
		{"ab", "ba", "-a b +a"},
		{"", "ab", "+a +b"},
	} {
		var got []string
		for _, r := range differ(of(c.a), of(c.b)) {
			got = append(got, strings.ReplaceAll(r.text, " ", ""))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s against %s: %s, want %s", c.a, c.b, strings.Join(got, " "), c.want)
		}
	}
	long := strings.Repeat("ab", 3000)
	if got := differ(of(long), of("x"+long)); len(got) != 12001 { // too long to be compared
		t.Errorf("%d lines of a long pair", len(got))
	}
}
