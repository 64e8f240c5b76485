package cli

import (
	"encoding/xml"
	"fmt"
	"os"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// The parts of JUnit's XML that CI servers read.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct { // one test file
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes the tests of a report as JUnit XML.
func writeJUnit(path string, r *ruleset.Report) error {
	all := junitSuites{}
	var took time.Duration
	for _, t := range r.Tests {
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != t.File {
			all.Suites = append(all.Suites, junitSuite{Name: t.File})
			took = 0
		}
		s := &all.Suites[len(all.Suites)-1]
		one := junitCase{Name: t.Name, Class: t.File, File: t.File, Line: t.Line, Time: seconds(t.Took)}
		if len(t.Problems) > 0 {
			one.Failure = &junitFailure{Message: t.Problems[0].Msg, Text: t.Problems.Error()}
			s.Failures++
			all.Failures++
		}
		took += t.Took
		s.Cases, s.Time = append(s.Cases, one), seconds(took)
		s.Tests++
		all.Tests++
	}
	doc, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.WriteFile(path, append([]byte(xml.Header), append(doc, '\n')...), 0o644); err != nil {
		return fmt.Errorf("write the JUnit report: %w", err)
	}
	return nil
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.6f", d.Seconds()) }
