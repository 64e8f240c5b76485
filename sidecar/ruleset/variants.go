package ruleset

import (
	"errors"
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
