package ruleset

import (
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Report is what examples and tests showed of a set.
type Report struct {
	Version  string       `json:"version"`
	Examples int          `json:"examples"`
	Tests    []TestResult `json:"tests"`
	Covered  []Covered    `json:"rules"`
}

// TestResult is what became of one test. It is good where there are no problems.
type TestResult struct {
	Name     string            `json:"name"`
	File     string            `json:"file"`
	Line     int               `json:"line"`
	Took     time.Duration     `json:"nanoseconds"`
	Problems rulefile.Problems `json:"problems,omitempty"`
}

// Covered is a rule, and how many examples and tests hit it.
type Covered struct {
	Rule
	Examples int `json:"examples"`
	Tests    int `json:"tests"`
}

// Test compiles the files, tries all examples and runs the tests whose name is
// wanted. The report is nil where the files do not load; tests that do not hold
// are in the report alone.
func (r Loader) Test(f rulefile.Files, wanted func(name string) bool) (*Report, rulefile.Problems) {
	l, mine := r.examine(f)
	if l != mine {
		l.problems = append(l.problems, mine.problems...)
	}
	if l.problems.Fatal() {
		return nil, l.problems.Sorted()
	}
	out := &Report{Version: l.set.Version, Examples: l.set.Counts.Examples, Tests: []TestResult{}}
	l.inTests = true
	for _, t := range l.tests {
		if !wanted(t.Name.Value) {
			continue
		}
		began := time.Now()
		problems := l.try(t)
		out.Tests = append(out.Tests, TestResult{t.Name.Value, t.Name.At.File(), t.Name.At.Line(),
			time.Since(began), problems})
	}
	for _, rule := range l.set.Rules() {
		n := l.covered[rule.Place]
		out.Covered = append(out.Covered, Covered{rule, n[0], n[1]})
	}
	return out, l.problems.Sorted()
}

// covers counts the rules that a reading hit.
func (l *loader) covers(r *parse.Reading) {
	l.set.Hit(r, func(rule Rule) { l.cover(rule.Place) })
}

// cover counts a hit of the rule at a place, by an example or a test.
func (l *loader) cover(place string) {
	n := l.covered[place]
	if l.inTests {
		n[1]++
	} else {
		n[0]++
	}
	l.covered[place] = n
}
