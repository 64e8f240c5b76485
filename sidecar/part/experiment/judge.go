package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// fewest is the minimal number of units of an arm for a verdict.
const fewest = 30

// tuned is the number of units per arm at which the intervals are narrowest.
const tuned = 1000

// difference returns an interval for the rate of b less that of a. It has the probability 1-alpha for all
// looks together: a confidence sequence by a normal mixture (Robbins; Johari and others, Always Valid
// Inference, 2015). rate means that the values are 0 to 1. ok is false for too few units, impossible
// tallies, and an alpha outside of 0 to 1.
func difference(a, b Tally, alpha float64, rate bool) (low, high float64, ok bool) {
	vs, ok := variances([]Tally{a, b}, rate)
	if !ok || !(alpha > 0 && alpha < 1) {
		return 0, 0, false
	}
	v := vs[0] + vs[1]
	// The width of the mixture is the error at the tuned number of units.
	mix := v * (float64(a.Units) + float64(b.Units)) / (2 * tuned)
	mix *= 2*math.Log(1/alpha) + 1
	half := math.Sqrt(v * (v + mix) / mix * (2*math.Log(1/alpha) + math.Log((v+mix)/v)))
	d := b.Rate() - a.Rate()
	if !finite(d-half) || !finite(d+half) {
		return 0, 0, false
	}
	return d - half, d + half, true
}

// variances returns the variances of the rates of compared arms; ok is false if one has too few units. A
// small arm may lack the rare events or large values of a large one, and would then look too certain. So
// its units vary no less than those of all arms together.
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

// findingKind is the kind of a verdict.
type findingKind string

// Kinds of verdicts.
const (
	Early        findingKind = "too_early"
	Better       findingKind = "better"
	Worse        findingKind = "worse"
	NoDifference findingKind = "no_difference"
	Broken       findingKind = "split_off"
)

// Ask is a question about two arms.
type Ask struct {
	Alpha         float64 // probability of a false difference; 0: 0.05
	Margin        float64 // smaller differences do not matter; 0: all matter
	Rate          bool    // values are 0 to 1
	LowerIsBetter bool
	Split         float64 // as Split returns it; 0: unknown
}

// Finding is the answer. The effect is the rate of the arm less that of the control.
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

// in returns the interval and its unit. An empty unit is that of a rate, whose interval is in points.
func (f Finding) in(unit string) (low, high float64, name string) {
	if unit == "" {
		return 100 * f.Low, 100 * f.High, "points"
	}
	return f.Low, f.High, unit
}

// Interval describes the interval.
func (f Finding) Interval(unit string) string {
	low, high, name := f.in(unit)
	return fmt.Sprintf("%s to %s %s", signed(low), signed(high), name)
}

// Words describes the verdict.
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

// figure formats a number with one digit after the point, none if it is large, more if it is small: an
// effect never looks like 0.0.
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

// up rounds up like figure, so that a bound stays a bound.
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

// Shares returns adapted shares: for each arm the probability that it is the best one (Thompson sampling),
// but at least floor, with the sum 1. They are equal until every arm has enough units, and if the floor
// leaves nothing to distribute. The result depends only on the tallies.
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
