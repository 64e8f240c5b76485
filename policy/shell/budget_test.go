package shell

import (
	"fmt"
	"strings"
	"testing"
)

// What is over budget is said; it is never cut off in silence, and ends soon.
func TestBudget(t *testing.T) {
	nested := func(open, inside, end string, n int) string {
		return strings.Repeat(open, n) + inside + strings.Repeat(end, n)
	}
	var calls strings.Builder
	calls.WriteString("f0() { ls; }\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&calls, "f%d() { f%d; f%d; }\n", i, i-1, i-1)
	}
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"64 commands", strings.Repeat("ls -l x; ", 64), false},
		{"200 commands", strings.Repeat("ls;", 200), false},
		{"201 commands", strings.Repeat("ls;", 201), true},
		{"201 commands in two texts", strings.Repeat("ls;", 101) + "eval '" + strings.Repeat("ls;", 100) + "'", true},
		{"5000 commands", strings.Repeat("ls;", 5000), true},
		{"bytes", "echo " + strings.Repeat("x", 128<<10), true},
		{"a long word", "echo " + strings.Repeat("x", 100<<10), false},
		{"3 substitutions", nested("echo $(", "ls", ")", 3), false},
		{"30 substitutions", nested("echo $(", "ls", ")", 30), true},
		{"3 process substitutions", nested("cat <(", "ls", ")", 3), false},
		{"20000 process substitutions", nested("cat <(", "ls", ")", 18000), true},
		{"subshells", nested("( ", "ls", " )", 40000), true},
		{"arithmetic", "echo " + nested("$((", "1", "))", 20000), true},
		{"sums", "echo $((1" + strings.Repeat("+1", 30000) + "))", true},
		{"blocks", nested("{ ", "ls", "; }", 20000), true},
		{"ifs", nested("if a; then ", "ls", "; fi", 8000), true},
		{"evals", strings.Repeat("eval ", 20) + "ls", true},
		{"a pipeline", "ls" + strings.Repeat(" | cat", 90), false},
		{"a long pipeline", "ls" + strings.Repeat(" | cat", 20000), true},
		{"what does not parse, again and again", "x='" + strings.Repeat("(", 30000) + "'; " + strings.Repeat(`eval "$x"; `, 100), true},
		{"braces", "echo {1..100000}", true},
		{"braces of braces", "echo " + strings.Repeat("{a,b}", 30), true},
		{"more braces than anybody looks at", "echo " + strings.Repeat("{a,b}", 25000), true},
		{"functions", calls.String() + "f29", true},
		{"a text that doubles", "x=aaaaaaaaaaaaaaaa;" + strings.Repeat("x=$x$x;", 40), true},
		{"a text that is replaced", "x=" + strings.Repeat("a", 1000) + ";y=${x//a/" + strings.Repeat("b", 1000) + "}; ls", false},
		{"a loop of loops", strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 8) + "ls" + strings.Repeat("; done", 8), false},
		{"loops that change", "x=a;" + strings.Repeat("while a; do x=$x$x; ", 15) + "ls" + strings.Repeat("; done", 15), false},
		{"eval of itself", "x='eval \"$x\"'; eval \"$x\"", true},
		{"a function of itself", "f() { f; f | f; }; f", false},
		{"a trap of itself", "trap 'trap ls EXIT; ls' EXIT", false},
		{"a wide number", "x=$(printf '%0999999999d' 1); ls", false},
		{"a sequence", "for i in $(seq 1 1000000000); do ls; done", false},
		{"printf", "printf '%s' " + strings.Repeat("{1..99}", 1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if s := Analyze(c.text, world); s.OverBudget != c.want {
				t.Errorf("over budget: %v; %d commands, dynamic %q, error %s", s.OverBudget, len(s.Commands),
					s.Dynamic, s.Error)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	w := world
	w.Limits = Limits{Bytes: 10, Statements: 9, Depth: 1, Commands: 2, Steps: 100}
	for text, want := range map[string]bool{"ls; ls": false, "ls; ls; ls": true, "echo 1234567": true,
		"a $(b $(c))": true, "a $(b)": false} {
		if len(text) > 10 && !want {
			continue
		}
		if s := Analyze(text, w); s.OverBudget != want {
			t.Errorf("%s: %v", text, s.OverBudget)
		}
	}
}
