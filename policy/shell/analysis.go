package shell

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// analysis is the state that all shells of one script share.
type analysis struct {
	guard    paths.Guard
	programs *program.Table
	limits   Limits
	script   *Script

	steps      int  // left in the budget
	over       bool // nothing is left
	bytes      int  // of values, left in the budget
	statements int  // parsed so far

	dynamic   map[string]bool  // of script.Dynamic
	files     map[string]*sink // written by the script, by absolute path
	functions []*function
	traps     []word
	folders   map[string]bool    // made by the script; true: surely
	listings  map[string]listing // of the disk, by folder
	linked    bool               // a path may lead through a link that the script has made
	unpacked  bool               // an archive has been unpacked
	deletes   bool               // it has deleted something
	fetched   bool               // files have come from the network
	settings  map[string]bool    // assignments whose meaning to programs is recorded
	exports   map[string]bool    // names of variables, or allExported
	pipes     int                // names given to <()
}

// These limits cannot be configured: the bytes of all values together, and the nesting of statements.
const (
	maxValueBytes = 1 << 20
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
		files:   map[string]*sink{}, folders: map[string]bool{}, listings: map[string]listing{},
	}
}

// unsure records a reason why a part of what runs is only known at run time.
func (a *analysis) unsure(why string) {
	if !a.dynamic[why] {
		a.dynamic[why] = true
		a.script.Dynamic = append(a.script.Dynamic, why)
	}
}

// unfollowed records a construct whose effects are not followed: the script counts as one that cannot be
// checked.
func (a *analysis) unfollowed(what string) {
	a.unsure("not followed: " + what)
	a.script.OverBudget = true
}

// exceed records that the script is too large, too deep or too much work.
func (a *analysis) exceed() { a.over, a.script.OverBudget = true, true }

// spend takes steps from the budget and reports whether any are left.
func (a *analysis) spend(steps int) bool {
	a.steps -= steps
	if a.steps < 0 || len(a.script.Commands) > a.limits.Commands {
		a.exceed()
	}
	return !a.over
}

// Analyze returns what text can do when bash runs it in this world. It never fails: what it cannot tell is in
// the result. If the analysis panics, the text counts as one that does not parse.
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
		a.exceed()
		return a.script
	}
	sh := a.shell()
	if len(w.Env) > 0 {
		names := slices.Sorted(maps.Keys(w.Env))
		sh.emit(Command{Env: names})
		for _, name := range names {
			sh.setVariable(name, known(w.Env[name]))
			sh.noteExported(name)
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
