package cond

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// BenchmarkPatternSize is what a pattern of so many steps costs at worst, per byte
// of a text in which it almost matches everywhere.
func BenchmarkPatternSize(b *testing.B) {
	text := strings.Repeat("a", 64<<10)
	for _, n := range []int{30, 100, 300, 999} {
		re := regexp.MustCompile(fmt.Sprintf("(?:a?){%d}b", n))
		tree, _ := syntax.Parse(re.String(), syntax.Perl)
		prog, _ := syntax.Compile(tree.Simplify())
		b.Run(fmt.Sprint(len(prog.Inst)), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				re.MatchString(text)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(text)*len(prog.Inst)), "ns/step/byte")
		})
	}
}

// somePattern is a random regular expression with many assertions.
func somePattern(rng *rand.Rand, depth int) string {
	atoms := []string{"a", "b", "_", " ", "é", `\n`, "^", "$", `\b`, `\B`, `\A`, `\z`, "(?m:^)", "(?m:$)", ".", "(?s:.)",
		"[ab]", "[^a]", "[^\\x00-\\x{10FFFF}]", `\w`, `\W`, `\s`, "(?i:k)", "[^\\w\\s]", ""}
	if depth == 0 {
		return atoms[rng.IntN(len(atoms))]
	}
	sub := func() string { return "(?:" + somePattern(rng, depth-1) + ")" }
	switch rng.IntN(7) {
	case 0:
		return sub() + "|" + sub()
	case 1:
		return sub() + []string{"*", "+", "?", "{2}", "{0}", "*?"}[rng.IntN(6)]
	case 2:
		return "(" + somePattern(rng, depth-1) + ")"
	}
	return sub() + sub()
}

// short are all texts of up to n of these characters.
func short(n int) []string {
	all, last := []string{""}, []string{""}
	for range n {
		var next []string
		for _, s := range last {
			for _, r := range []string{"a", "b", "_", " ", "é", "\n", "K"} {
				next = append(next, s+r)
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

// TestCanMatch compares with regexp itself on all short texts: what cannot match
// never does, and hardly anything that can match needs a longer text.
func TestCanMatch(t *testing.T) {
	patterns := 6_000
	if testing.Short() {
		patterns = 300
	}
	rng := rand.New(rand.NewPCG(3, 4))
	texts := short(4)
	never, longer := 0, 0
	for range patterns {
		p := somePattern(rng, 1+rng.IntN(3))
		tree, err := syntax.Parse(p, syntax.Perl)
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		prog, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(texts, regexp.MustCompile(p).MatchString)
		switch can := canMatch(prog); {
		case found && !can:
			t.Fatalf("%q can match", p)
		case !can:
			never++
		case !found:
			longer++
		}
	}
	t.Logf("%d of %d patterns match nothing; %d more match no text of 4 characters", never, patterns, longer)
	if never < patterns/20 || longer > patterns/20 {
		t.Errorf("%d match nothing, %d need a longer text", never, longer)
	}
}
