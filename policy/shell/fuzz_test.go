package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

// deletesRoot tells whether the facts hold a delete of /.
func deletesRoot(s *Script) bool {
	return slices.ContainsFunc(s.Commands, func(c Command) bool {
		return slices.ContainsFunc(c.Deletes, func(u paths.Use) bool { return u.Class == paths.Root })
	})
}

// FuzzAnalyze: nothing makes it panic or work without end, and what is added to a text
// is seen, or the text does not parse, or it is over budget.
func FuzzAnalyze(f *testing.F) {
	for _, seed := range []string{
		"ls", "a=r b=m; $a$b -rf /", "sh -c 'rm x'", "cat <<E\n$(id)\nE", "echo `a \\`b\\``",
		"for i in {1..3}; do echo $i; done", "x=(1 2); ${x[@]}",
		"f() { f; }; f", "echo a | base64 -d | sh", "[[ a == b ]] && (( x++ ))",
		"${x@P} ${!x} ${x//a/b} ${x:1:2} ${x^^}", "coproc a b", "declare -A a=([x]=1)",
		"echo $\\\n(id) #\\\nrm", "trap 'x' EXIT", "exec 3<>f; a <&3-", "echo ${a:'x'} $[1+1]",
		"select x in a b; do $x; done", "xargs -I{} sh -c {} <<< a", "printf -v x %s a; $x",
		"read a b <<< 'c d'; mapfile -t x <<< y; ${x[0]}", "set -- a; shift; \"$@\"",
		"case a in a|b) c;& d) e;; esac", "ln -s / l; rm l/x", "hash -p a b; b", "* d -", "ssh a -",
		"!(a) @(b|c)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := newAnalysis(world).run(text, world)
		if len(s.Commands) > DefaultLimits.Commands+1 {
			t.Errorf("%d commands", len(s.Commands))
		}
		for _, c := range s.Commands {
			if c.Start < 0 || c.End < c.Start || c.End > len(text) {
				t.Errorf("%q: span %d-%d of %d", c.Argv, c.Start, c.End, len(text))
			}
		}
		if !s.Parsed || s.Control || strings.Contains(text, "<<") || strings.ContainsAny(text, "\\#") &&
			strings.HasSuffix(text, "\\") {
			return // the end of a here-document or a continued line would take in what is added
		}
		more := Analyze(text+"\nrm -rf /", world)
		if !more.OverBudget && more.Parsed && !deletesRoot(more) && !slices.Contains(more.Dynamic,
			"an alias changes what a name means") && !defines(more, "rm") {
			t.Errorf("the added command is not seen: %q", commands(more))
		}
	})
}

// defines tells whether the script gives a name another meaning.
func defines(s *Script, name string) bool {
	return slices.ContainsFunc(s.Commands, func(c Command) bool {
		return c.Binary == name && slices.Contains(c.Tags, "function") ||
			slices.Contains(c.Tags, "hash-poison")
	})
}

var lines = []string{
	"ls -la", "git status --short && git diff --stat", "go test ./... 2>&1 | tail -20", "npm run build",
	`find . -name '*.go' -not -path './vendor/*' | xargs grep -n "later" | head -50`,
	`for f in src/*.js; do node --check "$f" || exit 1; done`,
	`git commit -m "$(cat <<'EOF'` + "\nA message\n\nwith a body\nEOF\n" + `)"`,
	`cd web && npm ci && npm test -- --coverage > ../coverage.txt`,
	`sed -i 's/a/b/' README.md; rm -rf build; mkdir -p build/out`,
	`curl -fsSL https://example.com/a.json -o a.json`,
}

func BenchmarkAnalyze(b *testing.B) {
	for _, text := range lines {
		name, _, _ := strings.Cut(text, "\n")
		b.Run(name[:min(24, len(name))], func(b *testing.B) {
			for b.Loop() {
				Analyze(text, world)
			}
		})
	}
}

// The time for each command must not grow with their number.
func BenchmarkGrowth(b *testing.B) {
	for _, kind := range []struct{ name, text string }{{"list", "x=$HOME; grep -n a b > c; "},
		{"pipeline", "sort -u | "}, {"nested", "echo $(cat a); "}} {
		for _, n := range []int{1, 8, 64} {
			text := strings.Repeat(kind.text, n) + "cat"
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				for b.Loop() {
					Analyze(text, world)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/command")
			})
		}
	}
}
