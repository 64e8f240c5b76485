package cond

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// BenchmarkPatternSize is what a pattern of so many steps costs at worst, per byte
// of a text in which it almost matches everywhere.
func BenchmarkPatternSize(b *testing.B) {
	text := strings.Repeat("a", 64<<10)
	for _, n := range []int{30, 100, 300, 999} {
		re := regexp.MustCompile(fmt.Sprintf("(?:a?){%d}b", n))
		steps := Steps(re.String())
		b.Run(fmt.Sprint(steps), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				re.MatchString(text)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(text)*steps),
				"ns/step/byte")
		})
	}
}
