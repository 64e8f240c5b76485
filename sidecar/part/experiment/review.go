package experiment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
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
		tr.Store.Keep(r.captureRule) // also removes old records while nothing is recorded
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

// troubles counts failing conditions by experiment; "" is capture. It is safe for concurrent use.
type troubles struct {
	mu sync.Mutex
	of map[string]trouble
}

// trouble counts the failures of one condition.
type trouble struct {
	rules  string // version of the rules
	times  int
	why    string    // the last error
	logged time.Time // when it was last logged
}

// failed counts a failure, and reports whether to log it: once a minute, since it repeats with each
// request.
func (t *troubles) failed(id, rules string, err error, now time.Time) (tell bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]trouble{}
	}
	f := t.of[id]
	if f.rules != rules {
		f = trouble{rules: rules, logged: f.logged}
	}
	f.times, f.why = f.times+1, err.Error()
	if tell = now.Sub(f.logged) >= time.Minute; tell {
		f.logged = now
	}
	t.of[id] = f
	return tell
}

// say describes the failures of an experiment under these rules; empty: none.
func (t *troubles) say(id, rules string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.of[id]
	if f.times == 0 || f.rules != rules {
		return ""
	}
	return fmt.Sprintf("its condition failed at %d requests, which are not in it: %s", f.times, f.why)
}

// maxPoints is how many points of a trial are kept. Beyond it every other point is removed, and the
// distance doubles: the series always reaches from the start to now.
const maxPoints = 96

// Point is the state of a trial at a time, for the deciding measures: the one to improve and those of
// guards.
type Point struct {
	At   time.Time  `json:"at"`
	Off  float64    `json:"split_p"`
	Arms []pointArm `json:"arms"`
}

// pointArm is the sum of an arm's units.
type pointArm struct {
	Units   int              `json:"units"`
	Tallies map[string]Tally `json:"measures"`
}

// deciding returns the measures of a series.
func deciding(e *Experiment) []string { return append([]string{e.Measure}, guarded(e)...) }

// point returns the current state of a trial.
func (s *Saved) point(measures []string, at time.Time) Point {
	p := Point{At: at, Off: s.Off}
	for _, a := range s.Arms {
		arm := pointArm{Units: a.Units, Tallies: map[string]Tally{}}
		for _, m := range measures {
			if t, ok := a.Tallies[m]; ok {
				arm.Tallies[m] = t
			}
		}
		p.Arms = append(p.Arms, arm)
	}
	return p
}

func (p *Point) same(o *Point) bool {
	return p.Off == o.Off && slices.EqualFunc(p.Arms, o.Arms, func(a, b pointArm) bool {
		return a.Units == b.Units && maps.Equal(a.Tallies, b.Tallies)
	})
}

// note adds the state of a trial at all replicas to its series when the next point is due or the file ended
// the trial, and reports whether to save. Without changes two points are enough: the last one moves.
func (t *trial) note(e *Experiment, all *Saved, now time.Time) bool {
	n, p := len(t.Series), all.point(deciding(e), now)
	switch {
	case all.sum() == 0:
		return false
	case n == 0:
	case e.Status == Running && now.Sub(t.Series[n-1].At) < t.Step:
		return false
	case e.Status != Running && p.same(&t.Series[n-1]):
		return false
	}
	if n > 1 && p.same(&t.Series[n-1]) && p.same(&t.Series[n-2]) {
		t.Series[n-1].At = now
		return false
	}
	if t.Series = append(t.Series, p); len(t.Series) > maxPoints {
		t.Step = max(2*t.Step, 2*every)
		kept := t.Series[:0]
		for i := range t.Series {
			if i%2 == 0 {
				kept = append(kept, t.Series[i])
			}
		}
		t.Series = kept
	}
	return true
}

// Series is the history of one measure.
type Series struct {
	Measure
	Points []Stood `json:"points"`
}

// Stood is the state of the arms at a time.
type Stood struct {
	At   time.Time  `json:"at"`
	Arms []stoodArm `json:"arms"`
}

// stoodArm is the state of one arm, with the verdict of that time.
type stoodArm struct {
	Units   int      `json:"units"`
	N       float64  `json:"n"` // number of events
	Value   float64  `json:"value"`
	Against *Finding `json:"against_control,omitempty"` // nil for the control
}

// series returns the histories of the deciding measures, the one to improve first.
func series(e *Experiment, s *Saved, now time.Time) (out []Series) {
	points := s.Series
	if !s.Ended.IsZero() {
		now = s.Ended
	}
	n, p := len(points), s.point(deciding(e), now)
	// When an experiment that its file ended stopped is unknown here.
	over := e.Status != Running && s.Ended.IsZero() && n > 0 && p.same(&points[n-1])
	if !over && !now.IsZero() && (n == 0 || now.After(points[n-1].At)) {
		points = append(slices.Clip(points), p)
	}
	for _, id := range deciding(e) {
		m, _ := MeasureOf(id)
		went := Series{Measure: m, Points: []Stood{}}
		for i := range points {
			p := &points[i]
			stood := Stood{At: p.At}
			for k, a := range p.Arms {
				arm := stoodArm{Units: a.Units, N: a.Tallies[id].N}
				if arm.N > 0 {
					arm.Value = a.Tallies[id].Rate()
				}
				if k > 0 {
					f := judge(e, m, p.Arms[0].Tallies[id], a.Tallies[id], p.Off)
					arm.Against = &f
				}
				stood.Arms = append(stood.Arms, arm)
			}
			went.Points = append(went.Points, stood)
		}
		out = append(out, went)
	}
	return out
}
