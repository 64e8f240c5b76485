package shell

import (
	"fmt"
	"maps"
	"slices"
)

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
			v, _ := sh.get(name)
			v.exported = true
			sh.set(name, v)
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
