package ruleset

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// tide is a section of a part that only tests have.
type tide struct {
	Version int `rule:"version" one:"1"`
	High    int `rule:"high" min:"1" max:"9"`
}

func (f *tide) Compile(r *Reader) any {
	if f.High == 5 {
		r.Report(r.At("high"), rulefile.CodeValue, "five is no tide", "")
	}
	return &flood{f.High}
}

type flood struct{ high int }

type ebb struct {
	Low int `rule:"low" min:"1" max:"9"`
}

// A part has its file and its key of limits.yaml: with defaults, layers, ceilings, and problems with a place.
func TestSections(t *testing.T) {
	with := Loader{Sections: append(Full.Sections, Section{Name: "tide.yaml", About: "The tide.", Holds: &tide{High: 1}},
		Section{Name: "ebb", About: "The ebb.", Holds: &ebb{Low: 2}})}
	limits := shipped(t)[limitsFile]
	for name, row := range map[string]struct {
		changed   rulefile.Files
		high, low int
		problem   string
	}{
		"nothing":          {rulefile.Files{"tide.yaml": "version: 1\n"}, 1, 2, ""},
		"said":             {rulefile.Files{"tide.yaml": "version: 1\nhigh: 3\n", limitsFile: limits + "\nebb: {low: 4}\n"}, 3, 4, ""},
		"an extra file":    {rulefile.Files{"tide.yaml": "version: 1\n", "extra/tide.a.yaml": "version: 1\nhigh: 4\n"}, 4, 2, ""},
		"locked":           {rulefile.Files{"tide.yaml": "version: 1\n", "policy/limits.yaml": "version: 1\nebb: {low: 1}\n"}, 1, 1, ""},
		"no file":          {nil, 0, 0, "tide.yaml: this file is missing"},
		"a wrong value":    {rulefile.Files{"tide.yaml": "version: 1\nhigh: 5\n"}, 0, 0, "tide.yaml:2:7: five is no tide [E-value]"},
		"beside another":   {rulefile.Files{"tide.yaml": "version: 1\nhigh: 5\nlow: 1\n"}, 0, 0, "tide.yaml:2:7: five is no tide [E-value]"},
		"out of bounds":    {rulefile.Files{"tide.yaml": "version: 1\n", limitsFile: limits + "\nebb: {low: 10}\n"}, 0, 0, "low cannot be 10 [E-value]"},
		"a key of no part": {rulefile.Files{"tide.yaml": "version: 1\n", limitsFile: limits + "\nneap: {low: 1}\n"}, 0, 0, "unknown key neap"},
	} {
		files := shipped(t)
		for name, text := range row.changed {
			files[name] = text
		}
		set, problems := with.LoadShipped(files)
		if row.problem != "" {
			if set != nil || !strings.Contains(problems.Error(), row.problem) {
				t.Errorf("%s: %v", name, problems)
			}
		} else if set == nil || Of[flood](set).high != row.high || Of[ebb](set).Low != row.low {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// What a part would read, in a program without it, is a warning that says whose it is.
func TestSectionsOfMissingParts(t *testing.T) {
	files := shipped(t)
	files["extra/runs.mine.yaml"] = "version: 1\nno such thing\n"
	set, problems := Loader{}.Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	for _, want := range []string{"limits.yaml:", "the key `console` belongs to the part console, which this program was built without",
		"runs.yaml: warning: the rule file `runs.yaml` belongs to the part run",
		"extra/runs.mine.yaml: warning: the rule file `runs.yaml` belongs to the part run"} {
		if !strings.Contains(problems.Error(), want) {
			t.Errorf("no %q in\n%v", want, problems)
		}
	}
	if Of[ebb](set).Low != 0 {
		t.Error("a section that nothing reads has a value")
	}
	if _, problems := (Loader{}).LoadShipped(shipped(t)); len(problems) > 0 {
		t.Errorf("the program warns of its own rules: %v", problems)
	}
}
