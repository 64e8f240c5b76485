package shell

import (
	"slices"
	"strings"
	"testing"
)

// TestFollowed: what text becomes on its way to a shell or to arguments is followed.
func TestFollowed(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // a command that runs; empty: none that has this word
		word string
	}{
		{"echo cm0geAo= | base64 --decode | sh", "rm x", "rm"},
		{"echo cm0geAo= | base64 -x | sh", "", "rm"},
		{"echo rm x | tee out | sh", "rm x", "rm"},
		{"echo rm x > f; source ./f", "rm x", "rm"},
		{"echo rm x > f; bash f", "rm x", "rm"},
		{"echo 'rm $1' > f; . f y", "rm", "rm"},
		{"bash /dev/stdin <<< 'rm x'", "rm x", "rm"},
		{". /dev/fd/0 <<< 'rm x'", "rm x", "rm"},
		{"sh -s a <<< 'rm $1'", "rm a", "rm"},
		{"sh -c 'rm $0 $1' a b", "rm a b", "rm"},
		{"bash -O extglob +x -c 'rm x'", "rm x", "rm"},
		{"bash --rcfile rc -ic 'rm x'", "rm x", "rm"},
		{"echo 'a b' | xargs rm", "rm a b", "rm"},
		{"printf 'a b\\nc' | xargs -I% rm %", "rm a b", "rm"},
		{"printf 'a b\\nc' | xargs -d '\\n' rm", "rm a b c", "rm"},
		{"printf 'a b' | xargs -n1 rm", "rm b", "rm"},
		{"echo rm | xargs -I% % x", "rm x", "rm"},
		{"xargs rm < names", "rm ", "rm"},
		{`read -r x <<< 'a\b'; rm $x`, `rm a\b`, "rm"},
		{`read x y <<< 'a b c'; rm $y`, "rm b", "rm"}, // a guess
		{"mapfile -t l < f; rm ${l[0]}", "rm ", "rm"},
		{"f() { rm $1; }; f a", "rm a", "rm"},
		{"set -- a b; shift; rm $1", "rm b", "rm"},
		{"while getopts ab o; do rm $o; done", "rm ", "rm"},
		{"unset -f f; f() { rm x; }; unset -f f; f", "rm x", "rm"},
		{"command -p rm x", "rm x", "rm"},
		{"exec -a name rm x", "rm x", "rm"},
		{"builtin -- eval rm x", "rm x", "rm"},
	} {
		var ran []string
		for _, s := range commands(Analyze(c.text, world)) {
			if s == c.word || strings.HasPrefix(s, c.word+" ") {
				ran = append(ran, s)
			}
		}
		if c.want == "" && len(ran) > 0 || c.want != "" && !slices.Contains(ran, c.want) {
			t.Errorf("%s: runs %q, want %q", c.text, ran, c.want)
		}
	}
}
