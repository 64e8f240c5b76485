package console

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// maxText is the maximal size of a drafted file in bytes, far more than people write.
const maxText = 512 << 10

// Rules are the rules in force, and compile others together with the built-in and the locked ones.
type Rules interface {
	Set() *ruleset.Set
	Merged(some map[string]*string) rulefile.Files
	Try(own rulefile.Files) (*ruleset.Set, rulefile.Problems, error)
	Test(own rulefile.Files) (*ruleset.Report, rulefile.Problems, error)
}

// Draft is an edited text of a rule file.
type Draft struct{ File, Text string }

// errNoFile says that the folder has no such file.
var errNoFile = errors.New("the rules in force have no such file")

// files returns the operator's files with the draft, and whether it changes any.
func (d *Draft) files(rules Rules) (own rulefile.Files, changed bool, err error) {
	now, ok := rules.Merged(nil)[d.File]
	switch {
	case !ok:
		return nil, false, fmt.Errorf("%w: %q", errNoFile, d.File)
	case len(d.Text) > maxText:
		return nil, false, fmt.Errorf("%s would have %d bytes, and %d is the most", d.File, len(d.Text),
			maxText)
	}
	return rules.Merged(map[string]*string{d.File: &d.Text}), now != d.Text, nil
}

// Checked is the result of compiling a draft.
type Checked struct {
	Set      *ruleset.Set      // compiled; nil: it does not load
	Problems rulefile.Problems // of all files; warnings if it loads
	Changed  bool              // the text differs from the one in force
	Failing  bool              // only tests fail: there is a Set, but it cannot be published
}

// Check compiles the draft as the command check would. If only tests fail, the result still has a Set.
func (d *Draft) Check(rules Rules) (Checked, error) {
	own, changed, err := d.files(rules)
	if err != nil {
		return Checked{}, err
	}
	out := Checked{Changed: changed}
	if !changed {
		out.Set = rules.Set()
		return out, nil
	}
	var problems rulefile.Problems
	switch out.Set, out.Problems, err = rules.Try(own); {
	case err == nil:
		return out, nil
	case !errors.As(err, &problems):
		return out, err
	}
	out.Problems = problems
	without, failing := withoutTests(own), false
	for i := range problems {
		if p := &problems[i]; !p.Warning {
			if !strings.HasPrefix(p.File, rulefile.TestFolder+"/") {
				return out, nil
			}
			failing = true
		}
	}
	if set, _, err := rules.Try(without); err == nil {
		out.Set, out.Failing = set, failing
	}
	return out, nil
}

func withoutTests(own rulefile.Files) rulefile.Files {
	out := rulefile.Files{}
	for name, text := range own {
		if !strings.HasPrefix(name, rulefile.TestFolder+"/") {
			out[name] = text
		}
	}
	return out
}

// Test runs the tests of the folder with the draft. The report is nil if the rules do not load; then there
// are problems.
func (d *Draft) Test(rules Rules) (*ruleset.Report, rulefile.Problems, error) {
	own, _, err := d.files(rules)
	if err != nil {
		return nil, nil, err
	}
	return rules.Test(own)
}
