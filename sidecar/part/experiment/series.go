package experiment

import (
	"maps"
	"slices"
	"time"
)

// maxPoints is how many points are kept of a trial. Where they are too many, every other one
// goes, and the next ones are twice as far apart: so they reach from the beginning to now.
const maxPoints = 96

// Point is how a trial stood at a moment, by the measures that decide: that which shall get
// better, and those of guards.
type Point struct {
	At   time.Time  `json:"at"`
	Off  float64    `json:"split_p"`
	Arms []pointArm `json:"arms"`
}

// pointArm is what the units of an arm added up to.
type pointArm struct {
	Units   int              `json:"units"`
	Tallies map[string]Tally `json:"measures"`
}

// deciding are the measures of a series.
func deciding(e *Experiment) []string { return append([]string{e.Measure}, guarded(e)...) }

// point is how a trial stands.
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

// note adds how a trial stands at all replicas to its series, if it is time or its file has ended it, and
// reports whether there is something new to save. While nothing happens two points are enough, and the
// last one moves.
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

// Series is how one measure went.
type Series struct {
	Measure
	Points []Stood `json:"points"`
}

// Stood is how the arms stood at a moment.
type Stood struct {
	At   time.Time  `json:"at"`
	Arms []stoodArm `json:"arms"`
}

// stoodArm is how one of them stood. The finding is what a look at that moment would have said.
type stoodArm struct {
	Units   int      `json:"units"`
	N       float64  `json:"n"` // events that the value is of
	Value   float64  `json:"value"`
	Against *Finding `json:"against_control,omitempty"` // nil of the control
}

// series tell how the measures that decide went, the one that shall get better first.
func series(e *Experiment, s *Saved, now time.Time) (out []Series) {
	points := s.Series
	if !s.Ended.IsZero() {
		now = s.Ended
	}
	n, p := len(points), s.point(deciding(e), now)
	// Since when one that its file ends is over is unknown here.
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
