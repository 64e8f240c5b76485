package experiment

import (
	"maps"
	"slices"
	"time"
)

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
