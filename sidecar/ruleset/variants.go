package ruleset

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Variant is a combination of overlays for some requests.
type Variant struct {
	Names    []string // EXPERIMENT/ARM each, for Under
	Overlays []*Overlay
	Draft    bool // checked, but not for Under
}

// varying is a section with other rules for some requests. Overlay finds an overlay, also of a draft.
type varying interface {
	Variants() []Variant
	Overlay(experiment, arm string) (*Overlay, error)
}

func (s *Set) varying() (out []varying) {
	for _, each := range s.Sections {
		if v, ok := each.(varying); ok {
			out = append(out, v)
		}
	}
	return out
}

// Under returns the set for requests in these arms, EXPERIMENT/ARM each, in the order of the file.
func (s *Set) Under(arms []string) *Set {
	if under := s.arms[strings.Join(arms, " ")]; under != nil {
		return under
	}
	return s
}

// Variant returns the set for one arm of an experiment, perhaps a draft. files are those of the set.
func (r Loader) Variant(s *Set, files rulefile.Files, experiment, arm string) (*Set, error) {
	texts, err := r.Over(files, func(set *Set) (*Overlay, error) {
		for _, v := range set.varying() {
			return v.Overlay(experiment, arm)
		}
		return nil, errors.New("this program was built without the part that tries other rules")
	})
	if err != nil {
		return nil, err
	}
	return s.forArms(r.prepare(under(files, texts), true).set, []string{experiment + "/" + arm}), nil
}

// Over returns the texts that an overlay puts over files, by name. pick finds the overlay in their rules.
func (r Loader) Over(files rulefile.Files, pick func(*Set) (*Overlay, error)) (map[string]string, error) {
	l := r.prepare(files, true)
	o, err := pick(l.set)
	if err != nil {
		return nil, err
	}
	texts := l.overlayTexts(o)
	if l.problems.Fatal() {
		return nil, l.problems
	}
	return texts, nil
}

// Overlaid is Load of files with an overlay. Problems name the overlay.
func (r Loader) Overlaid(files rulefile.Files, name, text string) (*Set, rulefile.Problems) {
	l := r.prepare(files, true)
	o, problems := readOverlay(name, text)
	if problems = append(problems, l.problems...); problems.Fatal() {
		return nil, problems.Sorted()
	}
	l.problems = nil
	texts := l.overlayTexts(o)
	if l.problems.Fatal() {
		return nil, l.problems.Sorted()
	}
	set, found := r.load(under(files, texts), false)
	l.reportUnder("with this overlay: ", o, found)
	return set, l.problems
}

// under adds the texts of overlays to files.
func under(files rulefile.Files, texts map[string]string) rulefile.Files {
	out := maps.Clone(files)
	for name, text := range texts {
		out[rulefile.ArmFolder+"/"+name] = text
	}
	return out
}

// reportUnder reports problems with the rules under an overlay at the place of that overlay.
func (l *loader) reportUnder(how string, o *Overlay, problems rulefile.Problems) {
	for _, p := range problems {
		if !p.Warning {
			l.report(o.At.All(), p.Code, how+p.Msg,
				strings.TrimSuffix("in "+strings.TrimPrefix(p.File, rulefile.ArmFolder+"/")+": "+p.Hint,
					": "))
		}
	}
}

// forArms returns the set of some arms. It shares everything that no arm can set.
func (s *Set) forArms(arms *Set, names []string) *Set {
	out := *arms
	out.Version, out.Arms = s.Version, names
	out.own, out.locked, out.floors, out.Programs = s.own, s.locked, s.floors, s.Programs
	out.forAgents()
	return &out
}

// variants loads and checks the rules of each variant; drafts are not kept. If the rules do not load, each
// overlay is checked alone, as far as the broken files allow.
func (l *loader) variants(tightening bool) {
	known := slices.Clone(l.problems)
	l.set.arms = map[string]*Set{}
	for _, section := range l.set.varying() {
		for _, v := range section.Variants() {
			if len(v.Overlays) > 1 && l.problems.Fatal() {
				return // the problems of each overlay are reported
			}
			before := len(l.problems)
			texts := l.overlayTexts(v.Overlays...)
			if len(l.problems) > before {
				continue
			}
			files := under(l.files, texts)
			set, problems := l.set, rulefile.Problems(nil)
			switch {
			case len(texts) > 0 && len(v.Overlays) == 1:
				set, problems = l.load(files, tightening)
				problems = slices.DeleteFunc(problems,
					func(p rulefile.Problem) bool { return slices.Contains(known, p) })
			case len(texts) > 0:
				more := l.prepare(files, true)
				set, problems = more.set, more.problems
			}
			l.reportUnder("with this arm: ", v.Overlays[0], problems)
			if set != nil && !v.Draft {
				l.set.arms[strings.Join(v.Names, " ")] = l.set.forArms(set, v.Names)
			}
		}
	}
}

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
