package rulefile

import (
	"strings"
	"testing"
)

// TestProblemSpan: carets stand under what the columns name, also behind wide
// characters, tabs and in long lines.
func TestProblemSpan(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`when: naem == "x"`, "^^^^"},
		{`日本 naem`, "^^^^"},
		{"a\tb naem", "^^^^"},
		{strings.Repeat("x", 300) + " naem " + strings.Repeat("y", 300), "^^^^"},
	} {
		before, _, _ := strings.Cut(c.line, "naem")
		col := len([]rune(before)) + 1
		ps := Problems{{File: "f.yaml", Line: 7, Col: col, EndCol: col + 4, Code: "E-name", Msg: "m",
			Source: c.line}}
		lines := strings.Split(ps.Error(), "\n")
		if len(lines) != 3 || len(lines[1]) > 200 {
			t.Fatalf("%q renders as %q", c.line, lines)
		}
		caret := strings.Index(lines[2], c.want)
		if at := strings.Index(lines[1], "naem"); cells([]rune(lines[1][:at])) != caret {
			t.Errorf("caret at %d:\n%s", caret, ps.Error())
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"about", "priority", "confidence", "id", "hit", "when"}
	for name, want := range map[string]string{
		"prioritty": "priority", "abuot": "about", "confidance": "confidence", "wehn": "when",
		"x": "", "description": "", "it": "hit", "i": "", "": "",
	} {
		if got, ok := Nearest(name, words); got != want || ok != (want != "") {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

// YAML 1.1 reads 010 as 8, YAML 1.2 as 10, and yaml.v3 08 as 8.
func TestNumbersThatBeginWithZero(t *testing.T) {
	for number, want := range map[string]bool{"0": true, "10": true, "0.5": true, "-0.5": true, "0x10": true, "0o10": true,
		"1e3": true, "010": false, "08": false, "-010": false, "00": false, "00.5": false} {
		type shape struct {
			Share float64 `rule:"share"`
			Any   any     `rule:"any"`
		}
		doc := "share: " + number + "\nany: [" + number + ", '" + number + "', 2026-01-02]\n"
		if strings.ContainsAny(number, "xo") {
			doc = doc[len("share: "+number+"\n"):] // no fraction of YAML's
		}
		_, problems := Decode[shape]("limits.yaml", doc)
		if got := len(problems) == 0; got != want {
			t.Errorf("%s: %v", number, problems)
		}
	}
}
