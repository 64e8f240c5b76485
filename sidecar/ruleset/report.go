package ruleset

import (
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Report is the result of examples and tests of a set.
type Report struct {
	Version  string       `json:"version"`
	Examples int          `json:"examples"`
	Tests    []TestResult `json:"tests"`
	Covered  []Covered    `json:"rules"`
}

// TestResult is the result of one test. It passed if there are no problems.
type TestResult struct {
	Name     string            `json:"name"`
	File     string            `json:"file"`
	Line     int               `json:"line"`
	Took     time.Duration     `json:"nanoseconds"`
	Problems rulefile.Problems `json:"problems,omitempty"`
}

// Covered is a rule with the number of examples and tests that hit it.
type Covered struct {
	Rule
	Examples int `json:"examples"`
	Tests    int `json:"tests"`
}

// Test compiles the files, tries all examples and runs the wanted tests. The report is nil if the files do
// not load; failed tests are only in the report.
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

// countReading counts the rules that a reading hit.
func (l *loader) countReading(r *parse.Reading) {
	l.set.Hit(r, func(rule Rule) { l.countHit(rule.Place) })
}

// countHit counts a hit of the rule at a place, by an example or a test.
func (l *loader) countHit(place string) {
	n := l.covered[place]
	if l.inTests {
		n[1]++
	} else {
		n[0]++
	}
	l.covered[place] = n
}
