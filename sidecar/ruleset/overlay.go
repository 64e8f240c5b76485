package ruleset

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// overlayKeys are files, and sections of them, that an arm may change: how the model is asked and how its
// replies are read. The policy, and the names of tools, stay the same for everyone.
var overlayKeys = map[string][]string{ // → the sections, where not all of them
	"strategies": nil, "evidence": nil, "models": nil, "results": nil, "recovery": nil, "edits": nil,
	"servers": nil,
	"limits":  {"size", "time", "retry"},
}

// forModels are keys that an arm may set for all models at once.
var forModels = map[string]string{
	"prompt": "prompt", "profile": "profile", "style": "style", "upstream": "upstream", "name": "name",
	"server":   "server",
	"sampling": "sampling", "effort": "sampling.reasoning_effort",
}

// Overlay is a change of the rule files for some requests.
type Overlay struct {
	Name string
	At   rulefile.Text // its place
	Set  []rulefile.Pair[any]
}

// overlayFile is a file with the changes of an arm, without an experiment.
type overlayFile struct {
	rulefile.Head
	About string               `rule:"about" doc:"What it tries."`
	Set   []rulefile.Pair[any] `rule:"set,required" doc:"What is other than in the rule files, as an arm says it." eg:"{prompt: short, strategies.markers.priority: 75}"`
}

// readOverlay parses an overlay; name is that of the file.
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

// overlayTexts returns the texts that overlays put over the rule files, by file name. It reports what cannot
// be set.
func (l *loader) overlayTexts(overlays ...*Overlay) map[string]string {
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
			sections, may := overlayKeys[file]
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

// settableKeys returns what an arm may set, for a hint.
func settableKeys() []string {
	return append(slices.Sorted(maps.Keys(forModels)), slices.Sorted(maps.Keys(overlayKeys))...)
}
