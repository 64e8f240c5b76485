package setup

import (
	"bytes"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

func TestSides(t *testing.T) {
	left := []line{{"one two", terminal.Plain}, {"", terminal.Plain}, {"bad", terminal.Red}}
	right := []line{{"é", terminal.Bold}}
	for colours, want := range map[terminal.Colours]string{
		false: "\nid: about\n  without  one two\n\n           bad\n  with     é\n",
		true:  "\nid: about\n  without  one two\n\n           \x1b[31mbad\x1b[0m\n  with     \x1b[1mé\x1b[0m\n",
	} {
		var out bytes.Buffer
		p := page{&out, colours}
		p.sides("id", "about", side{"without", left}, side{"with", right})
		if out.String() != want {
			t.Errorf("got\n%q\nwant\n%q", out.String(), want)
		}
	}
}
