package ruleset

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// settable are the files that an arm may say something over: how the model is asked and how
// its replies are read. The policy, and what tools are called, is the same for everybody.
var settable = map[string][]string{ // → the sections, where not all of them
	"strategies": nil, "evidence": nil, "models": nil, "results": nil, "recovery": nil, "edits": nil,
	"limits": {"size", "time", "retry"},
}

// forModels are keys of a model, which an arm may set for all of them at once.
var forModels = map[string]string{
	"prompt": "prompt", "profile": "profile", "style": "style", "upstream": "upstream", "name": "name",
	"server":   "server",
	"sampling": "sampling", "effort": "sampling.reasoning_effort",
}

// Overlay is what some requests find other than the rule files say it.
type Overlay struct {
	Name string
	At   rulefile.Text // where it stands
	Set  []rulefile.Pair[any]
}

// overlayFile is a file that sets what an arm sets, without an experiment.
type overlayFile struct {
	rulefile.Head
	About string               `rule:"about" doc:"What it tries."`
	Set   []rulefile.Pair[any] `rule:"set,required" doc:"What is other than in the rule files, as an arm says it." eg:"{prompt: short, strategies.markers.priority: 75}"`
}

// readOverlay reads one. Name is that of the file.
func readOverlay(name, text string) (*Overlay, rulefile.Problems) {
	o, problems := rulefile.Decode[overlayFile](name, text)
	if len(o.Set) == 0 && !problems.Fatal() {
		problems = append(problems, rulefile.LineOf(name, text, 1).Problem(rulefile.CodeMissing,
			"the overlay sets nothing", "write set: {prompt: short}, or what else an arm sets"))
	}
	if problems.Fatal() {
		return nil, problems
	}
	return &Overlay{name, o.Set[0].Key, o.Set}, problems
}

// over are the texts that stand over the rule files under some overlays together, by the names of
// those files. What cannot be set is reported.
func (l *loader) over(overlays ...*Overlay) map[string]string {
	over, by := map[string]*rulefile.Overlay{}, map[string]*Overlay{}
	set := func(at rulefile.Text, file, path string, value any) {
		name := file + ".yaml"
		if !l.clean(name) {
			return // what is said over it cannot be judged
		}
		if over[name] == nil {
			over[name] = l.trees[name].Over()
		}
		if err := over[name].Set(path, value); err != nil {
			l.report(at.All(), rulefile.CodeRef, err.Error(),
				"write FILE.ID.KEY, as in strategies.markers.priority")
		}
	}
	for _, o := range overlays {
		for _, s := range o.Set {
			key := s.Key.Value
			if other, twice := by[key]; twice && other != o {
				l.report(s.Key.All(), rulefile.CodeDup,
					"the arm "+other.Name+" of another experiment sets "+key+", too",
					"they run at the same time; stop one of them")
				continue
			}
			by[key] = o
			if path, all := forModels[key]; all {
				for i := range l.set.Models {
					set(s.Key, "models", "models."+l.set.Models[i].ID.Value+"."+path, s.Value)
				}
				continue
			}
			file, path, _ := strings.Cut(key, ".")
			sections, may := settable[file]
			section, _, _ := strings.Cut(path, ".")
			switch {
			case !may:
				l.report(s.Key.All(), rulefile.CodeRef, "an arm cannot set "+key,
					"arms set "+strings.Join(settableKeys(), ", "))
			case path == "":
				l.report(s.Key.All(), rulefile.CodeRef, key+" is a whole file",
					"write FILE.ID.KEY, as in strategies.markers.priority")
			case sections != nil && !slices.Contains(sections, section):
				l.report(s.Key.All(), rulefile.CodeRef, "an arm cannot set "+file+"."+section,
					fmt.Sprintf("of %s.yaml it may set %s; how much of a result is kept is results.TOOL.chars", file, strings.Join(sections, ", ")))
			default:
				set(s.Key, file, path, s.Value)
			}
		}
	}
	out := map[string]string{}
	for name, o := range over {
		text, err := o.Text()
		if err != nil {
			l.report(overlays[0].At.All(), rulefile.CodeValue, "this cannot be written: "+err.Error(), "")
			continue
		}
		out[name] = text
	}
	return out
}

// settableKeys are what an arm may set, for a hint.
func settableKeys() []string {
	return append(slices.Sorted(maps.Keys(forModels)), slices.Sorted(maps.Keys(settable))...)
}
