package shell

import (
	"runtime"
	"strings"
	"testing"
)

// repeated are texts that repeat something until they are as long as a text may be.
var repeated = map[string]string{
	"assignments": "a=x;", "appends": "a+=x;", "arrays": "l+=(a b);", "words": "$a", "quoted": `"$a"`,
	"all": `"$@" `, "braces": "{a,b}", "globs": "*?[a]", "default": "${a:-", "trims": "${a%.*}",
	"tilde": "~/", "sums": "$((1+1))", "nested sums": "$((", "subscripts": "a[", "substitutions": "$(",
	"backquotes": "`echo `", "escaped": "\\", "comments": "#\\\n", "crlf": "a \\\r\n", "lines": "a \\\n",
	"dollars": "$\\\n", "here-documents": "cat <<E\n$a\nE\n", "and": "a && ", "or": "a || ", "pipes": "a | ",
	"cd": "cd x;", "functions": "f() { f; };", "local": "f() { local a=$a; };f;", "tests": "[[ $a -eq 1 ]];",
	"arithmetic": "((a++));",
	"loops":      "for i in $@; do :;done;", "whiles": "while :; do a=$a$a;done;", "xargs": "ls|xargs sed;",
	"git": "git status;", "eval": "eval ", "quotes": "'", "double": `"`, "ansi": `$'\x41'`,
	"export": "export a=b;", "printf": "printf -v a %s b;", "read": "read a <<< b;",
}

// BenchmarkHostile takes 128 KB of each apart. None should take more than 300 ms.
func BenchmarkHostile(b *testing.B) {
	for name, piece := range repeated {
		for _, around := range [][2]string{{"", ""}, {"x=", "; echo $x"}, {"echo \"", "\""}} {
			text := around[0] + strings.Repeat(piece, (DefaultLimits.Bytes-20)/len(piece)) + around[1]
			b.Run(name+around[0], func(b *testing.B) {
				for b.Loop() {
					Analyze(text, world)
				}
			})
		}
	}
}

// work is what an analysis of a text costs, counted: steps, and kilobytes that it makes.
func work(text string) (steps, kilobytes int, over bool) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a := newAnalysis(world)
	s := a.run(text, world)
	runtime.ReadMemStats(&after)
	return DefaultLimits.Steps - a.steps, int(after.TotalAlloc-before.TotalAlloc) >> 10, s.OverBudget
}

// The work for a text grows as its length does, until it is over budget.
func TestGrowth(t *testing.T) {
	for name, piece := range repeated {
		for _, around := range [][2]string{
			{"", ""}, {"x=", "; echo $x"}, {"echo \"", "\""}, {"for i in {1..60}; do ", "; done"},
		} {
			of := func(size int) (steps, kilobytes int, over bool) {
				return work(around[0] + strings.Repeat(piece, size/len(piece)) + around[1])
			}
			of(64) // rows are made ready
			half, halfKB, _ := of(512)
			full, fullKB, over := of(1024)
			if name == "arrays" { // each += copies what is there
				continue
			}
			if !over && (full > 2*half+20 || fullKB > 3*halfKB+64) {
				t.Errorf("%s%s: %d steps and %d KB for half of it, %d and %d for all", around[0], name,
					half, halfKB, full, fullKB)
			}
		}
	}
}
