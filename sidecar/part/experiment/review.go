package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Stop ends an experiment for all new requests. by is the person who stops it; empty: unknown.
func (tr *Tracker) Stop(set *ruleset.Set, id, why, by string) error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	x := Of(set)
	i := slices.IndexFunc(x.List, func(e Experiment) bool { return e.ID == id })
	if i < 0 {
		return errors.New("there is no experiment " + id)
	}
	e := &x.List[i]
	if e.Status != Running {
		return fmt.Errorf("%s is not running: it is %s in %s", id, e.Status, e.Place)
	}
	if t := tr.trial(set, e); t.Stopped == "" {
		t.By = by
		tr.stop(t, why)
	}
	return nil
}

func (tr *Tracker) stop(t *trial, why string) {
	if t.Stopped == "" {
		t.Stopped, t.Ended, tr.dirty, tr.published = why, tr.Now(), true, false
		tr.Log.Info("an experiment has stopped: everybody gets the rules as they are",
			"event", "experiment_stopped", "experiment", t.ID, "why", why, "by", t.By)
	}
}

// Review stops experiments, adapts shares, and updates the metrics.
func (tr *Tracker) Review(set *ruleset.Set) {
	x, all := Of(set), tr.reviewed(set)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if r := x.Capture; r != nil {
		tr.Store.Keep(ruleOf(r)) // also removes old records while nothing is recorded
	}
	tr.Metrics.Units.Reset()
	tr.Metrics.Outcomes.Reset()
	for i := range x.List {
		e := &x.List[i]
		t := tr.trials[e.ID]
		if t == nil || !samePrint(t.Print, printOf(set, e)) || all[e.ID] == nil { // it has just begun
			continue
		}
		for k := range t.Arms {
			a := &t.Arms[k]
			tr.Metrics.Units.WithLabelValues(e.ID, a.Name).Set(float64(a.Units))
			for m, tally := range a.Tallies {
				tr.Metrics.Outcomes.WithLabelValues(e.ID, a.Name, m, "sum").Set(tally.X)
				tr.Metrics.Outcomes.WithLabelValues(e.ID, a.Name, m, "events").Set(tally.N)
			}
		}
		if t.Stopped != "" {
			continue
		}
		if e.Status == Running {
			tr.review(e, t, all[e.ID])
		}
		tr.dirty = t.note(e, all[e.ID], tr.Now()) || tr.dirty
	}
}

// review decides by the counts of all replicas, and changes the local state.
func (tr *Tracker) review(e *Experiment, t *trial, all *Saved) {
	t.Off = min(t.Off, all.Off, split(e, all))
	m, _ := MeasureOf(e.Measure)
	units := all.sum()
	switch {
	case all.Stopped != "": // stopped at another replica
		t.By = all.By
		tr.stop(t, all.Stopped)
	case e.Stop.Units > 0 && units >= e.Stop.Units:
		tr.stop(t, fmt.Sprintf("%d units were in it", units))
	case e.Stop.Days > 0 && tr.Now().Sub(all.Began) >= time.Duration(e.Stop.Days)*24*time.Hour:
		tr.stop(t, fmt.Sprintf("it is %d days old", e.Stop.Days))
	}
	var alike []string
	for i := 1; i < len(t.Arms); i++ {
		for _, g := range e.Guards {
			of, _ := MeasureOf(g.Measure)
			// A worse measure does harm whether or not the split is valid.
			f := judge(e, of, all.Arms[0].Tallies[g.Measure], all.Arms[i].Tallies[g.Measure], 1)
			if f.Kind == Worse && (of.Lower && f.Low > g.By || !of.Lower && f.High < -g.By) {
				tr.stop(t, fmt.Sprintf("%s: %s is %s", t.Arms[i].Name, g.Measure, f.Words(of.Unit)))
			}
		}
		f := judge(e, m, all.Arms[0].Tallies[m.ID], all.Arms[i].Tallies[m.ID], t.Off)
		switch {
		case !e.Stop.Decided:
		case f.Kind == Better || f.Kind == Worse:
			tr.stop(t, fmt.Sprintf("%s: %s is %s", t.Arms[i].Name, m.ID, f.Words(m.Unit)))
		case f.Kind == NoDifference:
			alike = append(alike, fmt.Sprintf("%s: %s has %s", t.Arms[i].Name, m.ID, f.Words(m.Unit)))
		}
	}
	if len(alike) > 0 && len(alike) == len(t.Arms)-1 { // an undecided arm may still be better
		tr.stop(t, strings.Join(alike, "; "))
	}
	if e.Floor > 0 {
		var tallies []Tally
		for i := range t.Arms {
			tallies = append(tallies, all.Arms[i].Tallies[m.ID])
		}
		t.Shares, tr.dirty = Shares(tallies, e.Floor, m.Unit == "", m.Lower), true
	}
}
