package ruleset

import (
	"fmt"
	"regexp"
	"regexp/syntax"
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
