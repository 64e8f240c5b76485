package lab

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/anytime"
	"github.com/jgavinray/gpt-oss-executor/sidecar/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Report is how an experiment goes.
type Report struct {
	ID      string    `json:"id"`
	About   string    `json:"about"`
	Status  string    `json:"status"`        // draft, running, stopped
	Why     string    `json:"why,omitempty"` // it was stopped
	By      string    `json:"by,omitempty"`  // who has stopped it, where somebody says so
	Unit    string    `json:"unit"`
	Phase   int       `json:"phase"`
	Began   time.Time `json:"began,omitzero"`
	Measure string    `json:"measure"`
	Margin  float64   `json:"margin,omitempty"` // a smaller difference of the measure does not matter
	Units   int       `json:"units"`
	Split   float64   `json:"split_p"` // below 0.001 the split is off
	Shadow  *Shadow   `json:"shadow,omitempty"`
	Arms    []Arm     `json:"arms"`
	Series  []Series  `json:"series,omitempty"` // of the measure, and of those of guards; not of several folders
}

// Shadow is how often another arm reads replies otherwise.
type Shadow struct {
	Read    int `json:"read"`
	Differs int `json:"differs"`
}

// Arm is how one of its arms does.
type Arm struct {
	Name     string     `json:"arm"`
	Share    float64    `json:"share"`
	Units    int        `json:"units"`
	Measures []Measured `json:"measures"`
}

// Measured is what is counted of one measure.
type Measured struct {
	experiment.Measure
	anytime.Tally
	Value   float64          `json:"value"`
	Against *anytime.Finding `json:"against_control,omitempty"` // nil of the control
	Words   string           `json:"words,omitempty"`
}

// Reports tell of every experiment of a rule set. More are the counts of other processes.
func (l *Lab) Reports(set *ruleset.Set, more ...*File) (out []Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var now time.Time // of counts that go on
	if l.Now != nil {
		now = l.Now()
	}
	files := append(slices.Clone(l.others), more...)
	for i := range set.Experiments.List {
		e := &set.Experiments.List[i]
		var mine *Saved
		if t := l.trials[e.ID]; t != nil && t.Print == printOf(e) {
			copied := t.saved(len(files) == 0)
			mine = &copied
		}
		s := together(e, mine, files)
		if mine != nil && len(more) == 0 {
			s.Series = mine.Series // of all replicas, as of each moment
		}
		r := report(e, s)
		if s != nil && len(more) < 2 {
			r.Series = series(e, s, now)
		}
		out = append(out, r)
	}
	return out
}

// report tells of one experiment.
func report(e *experiment.Experiment, s *Saved) Report {
	r := Report{ID: e.ID, About: e.About, Status: e.Status, Unit: e.Unit, Phase: e.Phase, Measure: e.Measure, Margin: e.Margin, Split: 1}
	shares := e.Shares()
	if s != nil {
		r.Began = s.Began
		if s.Stopped != "" {
			r.Status, r.Why, r.By = experiment.Stopped, s.Stopped, s.By
		}
		if len(s.Shares) == len(shares) && e.Floor > 0 {
			shares = s.Shares
		}
		r.Split = min(s.Off, split(e, s))
		if e.Shadow {
			r.Shadow = &Shadow{s.Read, s.Differs}
		}
	}
	for i, a := range e.Arms {
		arm := Arm{Name: a.Name, Share: shares[i], Measures: []Measured{}}
		if s != nil {
			arm.Units = s.Arms[i].Units
			r.Units += arm.Units
			for _, m := range experiment.Measures() {
				if t := s.Arms[i].Tallies[m.ID]; t.N > 0 {
					arm.Measures = append(arm.Measures, counts(e, m, t, s.Arms[0].Tallies[m.ID], i, r.Split))
				}
			}
		}
		r.Arms = append(r.Arms, arm)
	}
	return r
}

func counts(e *experiment.Experiment, m experiment.Measure, t, control anytime.Tally, arm int, off float64) Measured {
	c := Measured{Measure: m, Tally: t, Value: t.Rate()}
	if arm > 0 {
		f := judge(e, m, control, t, off)
		c.Against, c.Words = &f, f.Words(m.Unit)
	}
	return c
}

// judge compares an arm with the control. The chance to be wrong is shared by all arms, and what
// guards look at beside the measure has such a chance of its own, which they share. The margin is
// one of what shall get better: of other measures, every difference matters.
func judge(e *experiment.Experiment, m experiment.Measure, control, arm anytime.Tally, off float64) anytime.Finding {
	ask := anytime.Ask{Alpha: 0.05 / float64(len(e.Arms)-1), Rate: m.Unit == "", LowerIsBetter: m.Lower, Split: off}
	if m.ID == e.Measure {
		ask.Margin = e.Margin
	} else if guarded := guarded(e); slices.Contains(guarded, m.ID) {
		ask.Alpha /= float64(len(guarded))
	}
	return anytime.Judge(control, arm, ask)
}

// guarded are the measures that guards look at, but for that which shall get better.
func guarded(e *experiment.Experiment) (out []string) {
	for _, g := range e.Guards {
		if g.Measure != e.Measure && !slices.Contains(out, g.Measure) {
			out = append(out, g.Measure)
		}
	}
	return out
}

// split is how likely chance makes such a split; 1 where it follows what is counted.
func split(e *experiment.Experiment, s *Saved) float64 {
	if e.Floor > 0 || e.Shadow {
		return 1
	}
	counts := make([]int, len(s.Arms))
	for i := range s.Arms {
		counts[i] = s.Arms[i].Units
	}
	return anytime.Split(counts, e.Shares())
}

// Stop ends an experiment: from now on nobody is in it. by is who has stopped it; empty: nobody says it.
func (l *Lab) Stop(set *ruleset.Set, id, why, by string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(set.Experiments.List, func(e experiment.Experiment) bool { return e.ID == id })
	if i < 0 {
		return errors.New("there is no experiment " + id)
	}
	e := &set.Experiments.List[i]
	if e.Status != experiment.Running {
		return fmt.Errorf("%s is not running: it is %s in %s", id, e.Status, e.Place)
	}
	if t := l.trial(e); t.Stopped == "" {
		t.By = by
		l.stop(t, why)
	}
	return nil
}

func (l *Lab) stop(t *trial, why string) {
	if t.Stopped == "" {
		t.Stopped, t.Ended, l.dirty, l.told = why, l.Now(), true, false
		l.Log.Info("an experiment has stopped: everybody gets the rules as they are", "event", "experiment_stopped", "experiment", t.ID, "why", why, "by", t.By)
	}
}

// Review ends what shall end, moves shares that adapt, and brings the metrics up to date.
func (l *Lab) Review(set *ruleset.Set) {
	all := l.reviewed(set)
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := set.Experiments.Capture; r != nil {
		l.Store.Keep(ruleOf(r)) // what is too old goes, also while nothing is recorded
	}
	l.Metrics.Units.Reset()
	l.Metrics.Outcomes.Reset()
	for i := range set.Experiments.List {
		e := &set.Experiments.List[i]
		t := l.trials[e.ID]
		if t == nil || t.Print != printOf(e) || all[e.ID] == nil { // begun just now
			continue
		}
		for k := range t.Arms {
			a := &t.Arms[k]
			l.Metrics.Units.WithLabelValues(e.ID, a.Name).Set(float64(a.Units))
			for m, tally := range a.Tallies {
				l.Metrics.Outcomes.WithLabelValues(e.ID, a.Name, m, "sum").Set(tally.X)
				l.Metrics.Outcomes.WithLabelValues(e.ID, a.Name, m, "events").Set(tally.N)
			}
		}
		if e.Status == experiment.Running && t.Stopped == "" {
			l.review(e, t, all[e.ID])
			l.dirty = t.note(e, all[e.ID], l.Now()) || l.dirty
		}
	}
}

// review goes by what all replicas have counted, and changes what is said here.
func (l *Lab) review(e *experiment.Experiment, t *trial, all *Saved) {
	t.Off = min(t.Off, all.Off, split(e, all))
	m, _ := experiment.MeasureOf(e.Measure)
	units := all.sum()
	switch {
	case all.Stopped != "": // at another replica
		t.By = all.By
		l.stop(t, all.Stopped)
	case e.Stop.Units > 0 && units >= e.Stop.Units:
		l.stop(t, fmt.Sprintf("%d units were in it", units))
	case e.Stop.Days > 0 && l.Now().Sub(all.Began) >= time.Duration(e.Stop.Days)*24*time.Hour:
		l.stop(t, fmt.Sprintf("it is %d days old", e.Stop.Days))
	}
	var alike []string
	for i := 1; i < len(t.Arms); i++ {
		for _, g := range e.Guards {
			of, _ := experiment.MeasureOf(g.Measure)
			// What gets worse does harm, whether or not the split can be trusted.
			f := judge(e, of, all.Arms[0].Tallies[g.Measure], all.Arms[i].Tallies[g.Measure], 1)
			if f.Kind == anytime.Worse && (of.Lower && f.Low > g.By || !of.Lower && f.High < -g.By) {
				l.stop(t, fmt.Sprintf("%s: %s is %s", t.Arms[i].Name, g.Measure, f.Words(of.Unit)))
			}
		}
		f := judge(e, m, all.Arms[0].Tallies[m.ID], all.Arms[i].Tallies[m.ID], t.Off)
		switch {
		case !e.Stop.Decided:
		case f.Kind == anytime.Better || f.Kind == anytime.Worse:
			l.stop(t, fmt.Sprintf("%s: %s is %s", t.Arms[i].Name, m.ID, f.Words(m.Unit)))
		case f.Kind == anytime.NoDifference:
			alike = append(alike, fmt.Sprintf("%s: %s has %s", t.Arms[i].Name, m.ID, f.Words(m.Unit)))
		}
	}
	if len(alike) > 0 && len(alike) == len(t.Arms)-1 { // one that is open may still be better
		l.stop(t, strings.Join(alike, "; "))
	}
	if e.Floor > 0 {
		var tallies []anytime.Tally
		for i := range t.Arms {
			tallies = append(tallies, all.Arms[i].Tallies[m.ID])
		}
		t.Shares, l.dirty = anytime.Shares(tallies, e.Floor, m.Unit == "", m.Lower), true
	}
}
