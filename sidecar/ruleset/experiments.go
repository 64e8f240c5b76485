package ruleset

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Under is the set for those who are in these arms, EXPERIMENT/ARM each, in the order of the
// file: the same rules, and what the arms set. None is the set itself.
func (s *Set) Under(arms []string) *Set {
	if under := s.arms[strings.Join(arms, " ")]; under != nil {
		return under
	}
	return s
}

// Arm is the set for those who are in one arm of an experiment, which may be a draft. Files are
// what the set was loaded from.
func (r Loader) Arm(s *Set, files rulefile.Files, id, arm string) (*Set, error) {
	e, compiled, err := s.Experiments.Find(id, arm)
	switch {
	case err != nil:
		return nil, err
	case e.Status == experiment.Stopped:
		return nil, fmt.Errorf("%s: %s is stopped, so its arms are not loaded; say status: draft to try them",
			e.Place, id)
	}
	l := r.prepare(under(files, r.prepare(files, true).base().Files(compiled)), true)
	return s.as(l.set, []string{id + "/" + arm}), nil
}

// Overlaid is Load of files under what an overlay sets. Name is that of the overlay in problems.
func (r Loader) Overlaid(files rulefile.Files, name, text string) (*Set, rulefile.Problems) {
	l := r.prepare(files, true)
	arm, problems := experiment.ReadOverlay(name, text)
	if problems = append(problems, l.problems...); problems.Fatal() {
		return nil, problems.Sorted()
	}
	l.problems = nil
	texts := l.base().Files(arm)
	if l.problems.Fatal() {
		return nil, l.problems.Sorted()
	}
	set, found := r.load(under(files, texts), false)
	l.tell("with this overlay: ", arm, found)
	return set, l.problems
}

// under are files with what an arm says over them.
func under(files rulefile.Files, texts map[string]string) rulefile.Files {
	out := maps.Clone(files)
	for name, text := range texts {
		out[rulefile.ArmFolder+"/"+name] = text
	}
	return out
}

// tell reports, where an arm stands, what is wrong with the rules under it.
func (l *loader) tell(how string, arm *experiment.CompiledArm, problems rulefile.Problems) {
	for _, p := range problems {
		if !p.Warning {
			l.report(arm.At.All(), p.Code, how+p.Msg,
				strings.TrimSuffix("in "+strings.TrimPrefix(p.File, rulefile.ArmFolder+"/")+": "+p.Hint,
					": "))
		}
	}
}

// Promoted are the files of a folder in which an arm of an experiment is the rule for
// everybody: what it sets stands in extra/FILE.EXPERIMENT.yaml, or where another extra file said
// something else, and the experiment is stopped.
// Files are all that count, as Load takes them.
func (r Loader) Promoted(files rulefile.Files, id, arm string) (rulefile.Files, error) {
	l := r.prepare(files, true)
	_, compiled, err := l.set.Experiments.Find(id, arm)
	if err != nil {
		return nil, err
	}
	texts := l.base().Files(compiled)
	if l.problems.Fatal() {
		return nil, l.problems
	}
	texts[experimentsFile] = fmt.Sprintf("version: 1\nexperiments:\n  - id: %s\n    status: stopped\n", id)
	out := files.Own()
	for name, text := range texts {
		if err := promote(out, name, text, id, arm); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// promote says in the files of a folder what an arm says over one of them. Two extra files
// cannot say different things, so one that has another value gets the new one.
func promote(own rulefile.Files, name, text, id, arm string) (err error) {
	for _, extra := range slices.Sorted(maps.Keys(own)) {
		if text == "" || rulefile.ExtraOf(extra) != name {
			continue
		}
		if own[extra], text, err = rulefile.Amend(own[extra], text); err != nil {
			return fmt.Errorf("read %s: %w", extra, err)
		}
	}
	if text == "" {
		return nil
	}
	stem := rulefile.ExtraFolder + "/" + strings.TrimSuffix(name, ".yaml") + "." + id
	file := stem + ".yaml"
	for n := 2; own.Has(file); n++ { // what was promoted before stays
		file = fmt.Sprintf("%s-%d.yaml", stem, n)
	}
	own[file] = fmt.Sprintf("# The arm %s of the experiment %s.\n%s", arm, id, text)
	return nil
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

func (l *loader) base() experiment.Base {
	return experiment.Base{Report: l.report, Models: collect(l.set.Models,
		func(m Model) string { return m.ID.Value }),
		Over: func(file string) *rulefile.Overlay {
			if !l.clean(file) {
				return nil // what is said over it cannot be judged
			}
			return l.trees[file].Over()
		}}
}

// experiments takes experiments.yaml.
func (l *loader) experiments() {
	f := decodeFile[experiment.File](l, experimentsFile)
	l.unique("id", f.IDs())
	for _, e := range f.Experiments {
		l.plainID(e.ID)
		for _, arm := range e.Arms {
			l.plainID(arm.Key)
		}
	}
	l.set.Experiments = experiment.Compile(f, experiment.Compiler{
		Pattern: func(t rulefile.Text) *regexp.Regexp { return l.pattern(t, "") }, Report: l.report,
		Asking: func(t *rulefile.Text) func(experiment.Asking) (bool, error) {
			return when[experiment.Asking](l, t, nil)
		},
		Captured: func(t *rulefile.Text) func(experiment.Captured) (bool, error) {
			return when[experiment.Captured](l, t, nil)
		},
	})
}

// arms loads the rules of each arm, checked like all others, and of those together that a
// session can be in. Those of drafts are checked, and not kept. Beside rules that do not load, each arm is
// told what is wrong with it alone, as far as files that are broken do not matter to it.
func (l *loader) arms(tightening bool) {
	base, known := l.base(), slices.Clone(l.problems)
	l.set.arms = map[string]*Set{}
	for _, c := range l.set.Experiments.Choices(l.report) {
		if len(c.Arms) > 1 && l.problems.Fatal() {
			return // each arm was said what is wrong with it
		}
		before := len(l.problems)
		texts := base.Files(c.Arms...)
		if len(l.problems) > before {
			continue
		}
		files := under(l.files, texts)
		set, problems := l.set, rulefile.Problems(nil)
		switch {
		case len(texts) > 0 && len(c.Arms) == 1:
			set, problems = l.load(files, tightening)
			problems = slices.DeleteFunc(problems,
				func(p rulefile.Problem) bool { return slices.Contains(known, p) })
		case len(texts) > 0:
			more := l.prepare(files, true)
			set, problems = more.set, more.problems
		}
		l.tell("with this arm: ", c.Arms[0], problems)
		if set != nil && !c.Draft {
			l.set.arms[strings.Join(c.Names, " ")] = l.set.as(set, c.Names)
		}
	}
}
