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

// Promoted are the files of a folder in which an arm of an experiment is the rule for
// everybody: what it sets stands in extra/FILE.EXPERIMENT.yaml, or where another extra file said
// something else, and the experiment is stopped.
// Files are all that count, as Load takes them.
func Promoted(files rulefile.Files, id, arm string) (rulefile.Files, error) {
	l := prepare(files, true)
	i := slices.IndexFunc(l.set.Experiments.List, func(e experiment.Experiment) bool { return e.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("there is no experiment %s in %s", id, experimentsFile)
	}
	e := &l.set.Experiments.List[i]
	k := e.Arm(arm)
	if k < 0 {
		return nil, fmt.Errorf("%s has no arm %s; %s", id, arm, rulefile.DidYouMean(arm, collect(e.Arms, func(a experiment.CompiledArm) string { return a.Name })))
	}
	texts := l.base().Files(&e.Arms[k])
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

func (l *loader) base() experiment.Base {
	return experiment.Base{Report: l.report, Models: collect(l.set.Models, func(m Model) string { return m.ID.Value }),
		Over: func(file string) *rulefile.Overlay { return l.trees[file].Over() }}
}

// experiments takes experiments.yaml.
func (l *loader) experiments() {
	f := decodeFile[experiment.File](l, experimentsFile)
	l.unique("id", f.IDs())
	for _, id := range f.IDs() {
		l.plainID(id)
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
// session can be in.
func (l *loader) arms(tightening bool) {
	base := l.base()
	l.set.arms = map[string]*Set{}
	for _, c := range l.set.Experiments.Choices(l.report) {
		if len(c.Arms) > 1 && l.problems.Fatal() {
			return // each arm was said what is wrong with it
		}
		files := maps.Clone(l.files)
		before := len(l.problems)
		texts := base.Files(c.Arms...)
		if len(l.problems) > before {
			continue
		}
		for name, text := range texts {
			files[rulefile.ArmFolder+"/"+name] = text
		}
		set, problems := l.set, rulefile.Problems(nil)
		switch {
		case len(texts) > 0 && len(c.Arms) == 1:
			set, problems = load(files, tightening)
		case len(texts) > 0:
			more := prepare(files, true)
			set, problems = more.set, more.problems
		}
		for _, p := range problems {
			if !p.Warning {
				l.report(c.Arms[0].At.All(), p.Code, "with this arm: "+p.Msg, strings.TrimPrefix(p.File+": ", rulefile.ArmFolder+"/")+p.Hint)
			}
		}
		if set != nil {
			under := *set
			under.Version, under.Arms = l.set.Version, c.Names
			l.set.arms[strings.Join(c.Names, " ")] = &under
		}
	}
}
