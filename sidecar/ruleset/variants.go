package ruleset

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Variant is overlays that hold together for some requests.
type Variant struct {
	Names    []string // EXPERIMENT/ARM each, by which Under finds its rules
	Overlays []*Overlay
	Draft    bool // it is checked, and Under does not find it
}

// varying is a section with other rules for some requests. Overlay finds one, also of a draft.
type varying interface {
	Variants() []Variant
	Overlay(experiment, arm string) (*Overlay, error)
}

// varying are the sections that are.
func (s *Set) varying() (out []varying) {
	for _, each := range s.Sections {
		if v, ok := each.(varying); ok {
			out = append(out, v)
		}
	}
	return out
}

// Under is the set for those who are in these arms, EXPERIMENT/ARM each, in the order of the
// file: the same rules, and what the arms set. None is the set itself.
func (s *Set) Under(arms []string) *Set {
	if under := s.arms[strings.Join(arms, " ")]; under != nil {
		return under
	}
	return s
}

// Variant is the set for those who are in one arm of an experiment, which may be a draft. Files are
// what the set was loaded from.
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
	return s.as(r.prepare(under(files, texts), true).set, []string{experiment + "/" + arm}), nil
}

// Over are the texts that an overlay puts over files, by their names. Pick finds it in their rules.
func (r Loader) Over(files rulefile.Files, pick func(*Set) (*Overlay, error)) (map[string]string, error) {
	l := r.prepare(files, true)
	o, err := pick(l.set)
	if err != nil {
		return nil, err
	}
	texts := l.over(o)
	if l.problems.Fatal() {
		return nil, l.problems
	}
	return texts, nil
}

// Overlaid is Load of files under what an overlay sets. Name is that of the overlay in problems.
func (r Loader) Overlaid(files rulefile.Files, name, text string) (*Set, rulefile.Problems) {
	l := r.prepare(files, true)
	o, problems := readOverlay(name, text)
	if problems = append(problems, l.problems...); problems.Fatal() {
		return nil, problems.Sorted()
	}
	l.problems = nil
	texts := l.over(o)
	if l.problems.Fatal() {
		return nil, l.problems.Sorted()
	}
	set, found := r.load(under(files, texts), false)
	l.under("with this overlay: ", o, found)
	return set, l.problems
}

// under are files with what overlays say over them.
func under(files rulefile.Files, texts map[string]string) rulefile.Files {
	out := maps.Clone(files)
	for name, text := range texts {
		out[rulefile.ArmFolder+"/"+name] = text
	}
	return out
}

// under reports, where an overlay stands, what is wrong with the rules under it.
func (l *loader) under(how string, o *Overlay, problems rulefile.Problems) {
	for _, p := range problems {
		if !p.Warning {
			l.report(o.At.All(), p.Code, how+p.Msg,
				strings.TrimSuffix("in "+strings.TrimPrefix(p.File, rulefile.ArmFolder+"/")+": "+p.Hint,
					": "))
		}
	}
}

// as is the set of some arms, which knows it. What no arm can set is that of the set itself, so
// that it is kept once.
func (s *Set) as(arms *Set, names []string) *Set {
	out := *arms
	out.Version, out.Arms = s.Version, names
	out.own, out.locked, out.floors, out.Programs = s.own, s.locked, s.floors, s.Programs
	out.forAgents()
	return &out
}

// variants loads the rules of each variant, checked like all others. Those of drafts are checked, and not
// kept. Beside rules that do not load, each overlay is checked alone, as far as files that are broken do not
// matter to it.
func (l *loader) variants(tightening bool) {
	known := slices.Clone(l.problems)
	l.set.arms = map[string]*Set{}
	for _, section := range l.set.varying() {
		for _, v := range section.Variants() {
			if len(v.Overlays) > 1 && l.problems.Fatal() {
				return // the problems of each overlay are reported
			}
			before := len(l.problems)
			texts := l.over(v.Overlays...)
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
			l.under("with this arm: ", v.Overlays[0], problems)
			if set != nil && !v.Draft {
				l.set.arms[strings.Join(v.Names, " ")] = l.set.as(set, v.Names)
			}
		}
	}
}
