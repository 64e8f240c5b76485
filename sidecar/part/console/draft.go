package console

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// maxText is how long a drafted file may be, in bytes. It is far more than people write.
const maxText = 512 << 10

// Rules are those in force, and how others are compiled beside the program's and the locked
// ones.
type Rules interface {
	Set() *ruleset.Set
	Merged(some map[string]*string) rulefile.Files
	Try(own rulefile.Files) (*ruleset.Set, rulefile.Problems, error)
	Test(own rulefile.Files) (*ruleset.Report, rulefile.Problems, error)
}

// Draft is a rule file as its author wants it to be.
type Draft struct{ File, Text string }

// errNoFile says that the folder has no such file.
var errNoFile = errors.New("the rules in force have no such file")

// own is the folder with the draft in it, and whether that changes anything.
func (d *Draft) own(rules Rules) (own rulefile.Files, changed bool, err error) {
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

// Checked is what came of compiling a draft.
type Checked struct {
	Set      *ruleset.Set      // reads by the draft; nil: it does not load
	Problems rulefile.Problems // of all files; warnings, where it loads
	Changed  bool              // it is another text than the one in force
	Failing  bool              // only tests do not hold: Set is there, and it cannot be published
}

// Check does what the command check does, with the draft in its place. Where nothing but tests
// is wrong, the draft can be read by all the same.
func (d *Draft) Check(rules Rules) (Checked, error) {
	own, changed, err := d.own(rules)
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

// Test runs the tests of the folder with the draft in it. The report is nil where that does
// not load, and the problems say why.
func (d *Draft) Test(rules Rules) (*ruleset.Report, rulefile.Problems, error) {
	own, _, err := d.own(rules)
	if err != nil {
		return nil, nil, err
	}
	return rules.Test(own)
}
