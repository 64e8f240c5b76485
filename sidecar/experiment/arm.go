package experiment

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

// Base is what arms are said over.
type Base struct {
	Over   func(file string) *rulefile.Overlay // of limits.yaml; nil where that cannot be read
	Models []string                            // ids
	Report func(at rulefile.Place, code, msg, hint string)
}

// Files are the texts that stand over the rule files for some arms together, by the names of
// those files. What cannot be set is reported.
func (b Base) Files(arms ...*CompiledArm) map[string]string {
	over, by := map[string]*rulefile.Overlay{}, map[string]*CompiledArm{}
	set := func(at rulefile.Text, file, path string, value any) {
		name := file + ".yaml"
		if over[name] == nil {
			if over[name] = b.Over(name); over[name] == nil {
				return
			}
		}
		if err := over[name].Set(path, value); err != nil {
			b.Report(at.All(), rulefile.CodeRef, err.Error(),
				"write FILE.ID.KEY, as in strategies.markers.priority")
		}
	}
	for _, arm := range arms {
		for _, s := range arm.Set {
			key := s.Key.Value
			if other, twice := by[key]; twice && other != arm {
				b.Report(s.Key.All(), rulefile.CodeDup,
					"the arm "+other.Name+" of another experiment sets "+key+", too",
					"they run at the same time; stop one of them")
				continue
			}
			by[key] = arm
			if path, all := forModels[key]; all {
				for _, id := range b.Models {
					set(s.Key, "models", "models."+id+"."+path, s.Value)
				}
				continue
			}
			file, path, _ := strings.Cut(key, ".")
			sections, may := settable[file]
			section, _, _ := strings.Cut(path, ".")
			switch {
			case !may:
				b.Report(s.Key.All(), rulefile.CodeRef, "an arm cannot set "+key,
					"arms set "+strings.Join(words(), ", "))
			case path == "":
				b.Report(s.Key.All(), rulefile.CodeRef, key+" is a whole file",
					"write FILE.ID.KEY, as in strategies.markers.priority")
			case sections != nil && !slices.Contains(sections, section):
				b.Report(s.Key.All(), rulefile.CodeRef, "an arm cannot set "+file+"."+section,
					fmt.Sprintf("of %s.yaml it may set %s; how much of a result is kept is results.TOOL.chars", file, strings.Join(sections, ", ")))
			default:
				set(s.Key, file, path, s.Value)
			}
		}
	}
	out := map[string]string{}
	for name, o := range over {
		if o == nil {
			continue
		}
		text, err := o.Text()
		if err != nil {
			b.Report(arms[0].At.All(), rulefile.CodeValue, "this cannot be written: "+err.Error(), "")
			continue
		}
		out[name] = text
	}
	return out
}

// words are what an arm may set, for a hint.
func words() []string {
	return append(slices.Sorted(maps.Keys(forModels)), slices.Sorted(maps.Keys(settable))...)
}

// Choice is what a unit may be in at the same time.
type Choice struct {
	Names []string // EXPERIMENT/ARM, in the order of the file
	Arms  []*CompiledArm
	Draft bool // no session is in it
}

// maxChoices bounds the sets that are loaded.
const maxChoices = 64

// Choices are every arm alone that is not stopped, and all that one unit may be in together.
func (x *Experiments) Choices(report func(at rulefile.Place, code, msg, hint string)) []Choice {
	var alone, several []Choice // of the running ones, several in each
	together := []Choice{{}}
	for i := range x.List {
		e := &x.List[i]
		if e.Status == Stopped {
			continue
		}
		all := together
		for k := range e.Arms {
			arm, name := &e.Arms[k], e.ID+"/"+e.Arms[k].Name
			alone = append(alone, Choice{[]string{name}, []*CompiledArm{arm}, e.Status == Draft})
			if e.Status != Running || e.Shadow {
				continue
			}
			for _, c := range together {
				all = append(all, Choice{Names: append(slices.Clip(c.Names), name),
					Arms: append(slices.Clip(c.Arms), arm)})
			}
		}
		together = all
		several = slices.DeleteFunc(slices.Clone(together), func(c Choice) bool { return len(c.Names) < 2 })
		if len(alone)+len(several) > maxChoices {
			report(e.Arms[0].At.All(), rulefile.CodeValue,
				fmt.Sprintf("the experiments have more than %d arms and combinations of running arms",
					maxChoices),
				"each is a set of rules; stop one of the experiments, or leave out arms")
			return nil
		}
	}
	return append(alone, several...)
}
