package ruleset

import (
	"fmt"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// maxProgram is how many instructions a pattern may have without a warning. At
// worst each costs about 7 ns for every byte (BenchmarkPatternSize of cond), so 1000 of
// them need half a second for the 64 KiB of a long error.
const maxProgram = 1000

// maxNested is how often a counted repetition inside another may repeat in all.
const maxNested = 100

// lintPattern warns about a regular expression that cannot match, or costs much.
func (l *loader) lintPattern(pattern string, at rulefile.Place) {
	p, ok := cond.PatternOf(pattern)
	switch {
	case !ok: // reported already
	case p.Never:
		l.warn(at, codeNever, "this pattern matches nothing at all", "look at ^, $, \\b and \\B: is there something in front or behind that they exclude?")
	case p.Nested > maxNested:
		l.warn(at, codeSlow, fmt.Sprintf("counted repetitions inside each other repeat up to %d times in all", p.Nested), "use + or *, or smaller counts")
	case p.Steps > maxProgram:
		l.warn(at, codeSlow, fmt.Sprintf("this pattern becomes %d steps, and more than %d are slow on long texts", p.Steps, maxProgram),
			"use + or * instead of large counts such as {0,500}, or fewer alternatives")
	}
}
