package cli

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestDifference(t *testing.T) {
	a := []Row{
		{"rules 1", "", Plain},
		{"  markers  60  refused: not_offered: fly: no tool is offered by this name, and the line is long", "strategies.yaml:3", Red},
		{"    same again", "aliases.yaml:4", Plain},
		{"    only here", "", Plain},
		{"content \"你好\"", "", Plain},
		{"finish stop", "", Plain},
	}
	b := []Row{
		{"rules 2", "", Plain},
		{"  markers  60  found 1 call", "strategies.yaml:9", Green},
		{"    same again", "aliases.yaml:44", Plain},
		{"content \"你好\"", "", Plain},
		{"    only there", "x.yaml:1", Bold},
		{"finish stop", "", Plain},
	}
	var out bytes.Buffer
	list := difference("old", "new", a, b)
	for _, colours := range []terminal.Colours{true, false} {
		fmt.Fprintf(&out, "-- colour %v --\n", colours)
		p := Printer{out: bufio.NewWriter(&out), colours: colours}
		if err := p.Document(nil, list); err != nil {
			t.Fatal(err)
		}
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

func TestNoDifference(t *testing.T) {
	a, b := []Row{{"same", "x.yaml:1", Plain}}, []Row{{"same", "x.yaml:7", Red}}
	if got := difference("a", "b", a, b); len(got) != 1 || got[0].Text != "no difference" {
		t.Errorf("%+v", got)
	}
}

func TestPlacesStandInOneColumn(t *testing.T) {
	var out bytes.Buffer
	p := Printer{out: bufio.NewWriter(&out)}
	long := strings.Repeat("é", placeColumn+1)
	if err := p.Document(nil, []Row{{"a", "x.yaml:1", Plain}, {"bcd", "y.yaml:2", Red}, {"no place", "", Plain},
		{long, "z.yaml:3", Plain}}); err != nil {
		t.Fatal(err)
	}
	if want := "a    x.yaml:1\nbcd  y.yaml:2\nno place\n" + long + "  z.yaml:3\n"; out.String() != want {
		t.Errorf("%s\nwant\n%s", &out, want)
	}
}

// full is a disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// What nobody could read has failed, whichever way a command writes.
func TestOutThatIsFull(t *testing.T) {
	for _, args := range []string{"noise cases", "noise ops", "version", "--version", "check builtin",
		"check builtin --github", "check builtin --json", "test builtin", "help", "help noise",
		"check --help",
		"vars", "man", "completion bash"} {
		var errs bytes.Buffer
		if code := Run(strings.Fields(args), Env{Parts: Parts, Out: full{}, Err: &errs,
			Defaults: os.DirFS("../..")}); code != 1 || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%s: exit code %d, %s", args, code, errs.String())
		}
	}
}
