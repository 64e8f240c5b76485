package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// fewest is how many units an arm needs before anything is said of it.
const fewest = 30

// tuned is for how many units an arm the intervals are narrowest.
const tuned = 1000

// difference is where the rate of b less that of a lies, with a probability of 1-alpha for all
// looks together: a confidence sequence by a normal mixture (Robbins; Johari and others, Always
// Valid Inference, 2015). rate says that the values are 0 to 1. It is not ok with too few units,
// with tallies that cannot have been counted, and with an alpha that is not between 0 and 1.
func difference(a, b Tally, alpha float64, rate bool) (low, high float64, ok bool) {
	vs, ok := variances([]Tally{a, b}, rate)
	if !ok || !(alpha > 0 && alpha < 1) {
		return 0, 0, false
	}
	v := vs[0] + vs[1]
	// The mixture is as wide as the error at the number of units that it is tuned to.
	mix := v * (float64(a.Units) + float64(b.Units)) / (2 * tuned)
	mix *= 2*math.Log(1/alpha) + 1
	half := math.Sqrt(v * (v + mix) / mix * (2*math.Log(1/alpha) + math.Log((v+mix)/v)))
	d := b.Rate() - a.Rate()
	if !finite(d-half) || !finite(d+half) {
		return 0, 0, false
	}
	return d - half, d + half, true
}

// variances are those of the rates of arms that are compared; not ok where one has too few
// units. A small arm may not have seen the few events, or large values, that a large one has,
// and would look surer than it is. So its units vary no less than those of all arms together.
func variances(arms []Tally, rate bool) (out []float64, ok bool) {
	all, units := 0.0, 0.0
	for _, a := range arms {
		v := a.Variance(rate)
		if a.Units < fewest || !a.Sound() || !finite(v) {
			return nil, false
		}
		m := float64(a.Units)
		out, all, units = append(out, v), all+v*m*m, units+m
	}
	for i, a := range arms {
		out[i] = max(out[i], all/units/float64(a.Units))
		if !finite(out[i]) {
			return nil, false
		}
	}
	return out, true
}

func finite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }

// findingKind is what may be said of an arm.
type findingKind string

// The kinds.
const (
	Early        findingKind = "too_early"
	Better       findingKind = "better"
	Worse        findingKind = "worse"
	NoDifference findingKind = "no_difference"
	Broken       findingKind = "split_off"
)

// Ask is what is asked of two arms.
type Ask struct {
	Alpha         float64 // how often a difference may be seen that is none; 0: 0.05
	Margin        float64 // a difference below it does not matter; 0: every one does
	Rate          bool    // values are 0 to 1
	LowerIsBetter bool
	Split         float64 // as Split says, which is never 0; 0: it was not asked
}

// Finding is the answer: the effect is the rate of the arm less that of the control.
type Finding struct {
	Kind   findingKind `json:"verdict"`
	Effect float64     `json:"effect"`
	Low    float64     `json:"low"`
	High   float64     `json:"high"`
}

// Judge compares an arm with the control.
func Judge(control, arm Tally, o Ask) Finding {
	alpha := o.Alpha
	if alpha == 0 {
		alpha = 0.05
	}
	f := Finding{Kind: Early}
	if low, high, ok := difference(control, arm, alpha, o.Rate); ok {
		f.Effect, f.Low, f.High = arm.Rate()-control.Rate(), low, high
		up, down := Better, Worse
		if o.LowerIsBetter {
			up, down = Worse, Better
		}
		switch {
		case low > 0:
			f.Kind = up
		case high < 0:
			f.Kind = down
		case o.Margin > 0 && -o.Margin < low && high < o.Margin:
			f.Kind = NoDifference
		}
	}
	if o.Split > 0 && o.Split < SplitOff {
		f.Kind = Broken
	}
	return f
}

// in is where the difference lies, with the unit of a mean; empty for a rate, which is told in points.
func (f Finding) in(unit string) (low, high float64, name string) {
	if unit == "" {
		return 100 * f.Low, 100 * f.High, "points"
	}
	return f.Low, f.High, unit
}

// Interval says where the difference lies.
func (f Finding) Interval(unit string) string {
	low, high, name := f.in(unit)
	return fmt.Sprintf("%s to %s %s", signed(low), signed(high), name)
}

// Words say what is found.
func (f Finding) Words(unit string) string {
	low, high, name := f.in(unit)
	if f.Effect < 0 {
		low, high = -high, -low
	}
	switch f.Kind {
	case Better, Worse:
		return fmt.Sprintf("%s by %s to %s %s", f.Kind, figure(low), figure(high), name)
	case NoDifference:
		return fmt.Sprintf("no difference of %s %s or more", figure(up(max(math.Abs(low), math.Abs(high)))),
			name)
	case Broken:
		return "the split is off: do not trust this"
	}
	return "undecided"
}

// number has one digit behind the point, none where it is large, more where it is small: an
// effect is never told as 0.0.
func figure(x float64) string {
	switch size := math.Abs(x); {
	case size >= 100:
		return fmt.Sprintf("%.0f", x)
	case size >= 0.1 || size < 1e-9:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.*f", int(math.Ceil(-math.Log10(size))), x)
	}
}

func signed(x float64) string {
	if x < 0 {
		return figure(x)
	}
	return "+" + figure(x)
}

// up rounds as number does, but never down: what is told as a bound is one.
func up(x float64) float64 {
	switch {
	case x >= 100:
		return math.Ceil(x)
	case x >= 0.1:
		return math.Ceil(10*x-1e-9) / 10
	case x >= 1e-9:
		digits := math.Pow(10, math.Ceil(-math.Log10(x)))
		return math.Ceil(x*digits-1e-9) / digits
	}
	return x
}

// Shares are shares of arms that follow how well they do: how probable it is for each that it
// is the best one (Thompson sampling), but never less than floor, and together 1. They are equal
// until every arm has enough units, and where the floor leaves nothing to share out. The same
// tallies give the same shares.
func Shares(arms []Tally, floor float64, rate, lowerIsBetter bool) []float64 {
	k := float64(len(arms))
	out := make([]float64, len(arms))
	seed := uint64(len(arms))
	for i, a := range arms {
		out[i] = 1 / k
		seed = seed*1099511628211 + uint64(a.Units) + math.Float64bits(a.X)
	}
	vs, ok := variances(arms, rate)
	if !ok || floor*k >= 1 {
		return out
	}
	if !(floor > 0) {
		floor = 0
	}
	const draws = 2000
	best := make([]float64, len(arms))
	r := rand.New(rand.NewPCG(seed, 1))
	for range draws {
		at, top := 0, math.Inf(-1)
		for i, a := range arms {
			x := a.Rate() + math.Sqrt(vs[i])*r.NormFloat64()
			if lowerIsBetter {
				x = -x
			}
			if x > top {
				at, top = i, x
			}
		}
		best[at]++
	}
	for i := range out {
		out[i] = floor + (1-floor*k)*best[i]/draws
	}
	return out
}
