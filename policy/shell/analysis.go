package shell

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// analysis is what all shells of one script share: the facts, and what is left of the
// budget.
type analysis struct {
	guard    paths.Guard
	programs *program.Table
	limits   Limits
	script   *Script

	steps int // left
	bytes int // of values, left
	taken int // readings
	stmts int // written so far

	dynamic   map[string]bool  // the reasons in the script, each once
	files     map[string]*sink // made by this script, by absolute path
	functions []*function
	traps     []word
	folders   map[string]bool   // made by this script
	looked    map[string]looked // on the disk, by folder
	linked    bool              // a path may lead elsewhere, through a link that the script has made
	spread    bool              // an archive has been unpacked
	deletes   bool              // it deletes something
	fetched   bool              // files have come from the network
	settings  map[string]bool   // NAME=value of which is known what they mean to programs
	exports   map[string]bool   // names that programs see; allExported: all of them
	pipes     int               // names given to <()
}

// Beside the limits that can be set: how much text all values together may hold, how
// many readings all texts may have, and how deep statements may stand in each other.
const (
	maxValueBytes = 1 << 20
	maxReadings   = 16
	maxNesting    = 1000
)

func newAnalysis(w World) *analysis {
	l := w.Limits
	if l == (Limits{}) {
		l = DefaultLimits
	}
	return &analysis{
		guard: w.Guard, programs: w.Programs, limits: l, steps: l.Steps, bytes: maxValueBytes,
		script:  &Script{Parsed: true, Binaries: []string{}},
		dynamic: map[string]bool{},
		files:   map[string]*sink{}, folders: map[string]bool{}, looked: map[string]looked{},
	}
}

// unsure notes a reason why a part of what runs is only known at run time.
func (a *analysis) unsure(why string) {
	if !a.dynamic[why] {
		a.dynamic[why] = true
		a.script.Dynamic = append(a.script.Dynamic, why)
	}
}

// spend takes steps from the budget. It is false when there are none left.
func (a *analysis) spend(steps int) bool {
	a.steps -= steps
	if a.steps < 0 || len(a.script.Commands) > a.limits.Commands {
		a.script.OverBudget = true
	}
	return !a.script.OverBudget
}

// Analyze says what a text can do when bash runs it in this world. It never fails: what
// it cannot tell is in the facts. A text that this package itself stumbles over counts
// as one that does not parse.
func Analyze(text string, w World) (s *Script) {
	defer func() {
		if broken := recover(); broken != nil {
			s = &Script{Error: fmt.Sprint("the analysis broke off: ", broken)}
		}
	}()
	return newAnalysis(w).run(text, w)
}

func (a *analysis) run(text string, w World) *Script {
	if len(text) > a.limits.Bytes {
		a.script.OverBudget = true
		return a.script
	}
	sh := a.shell()
	if len(w.Env) > 0 {
		names := slices.Sorted(maps.Keys(w.Env))
		sh.emit(Command{Env: names})
		for _, name := range names {
			sh.assigned(name, known(w.Env[name]))
			sh.handed(name)
		}
	}
	sh.script(text)
	sh.leftovers()
	a.script.Binaries = binaries(a.script.Commands)
	return a.script
}

func binaries(list []Command) []string {
	out := []string{}
	seen := map[string]bool{"": true}
	for i := range list {
		if name := list[i].Binary; !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}
