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

// Unit is the sum of one unit, such as a session: X of N events, or N values with the sum X.
type Unit struct{ X, N float64 }

// Tally is the sum of the units of an arm. Tallies of several processes can be added.
type Tally struct {
	Units int     `json:"units"`
	X     float64 `json:"x"`
	N     float64 `json:"n"`
	XX    float64 `json:"xx"`
	XN    float64 `json:"xn"`
	NN    float64 `json:"nn"`
}

// Grow records that the sum of a unit has grown or was corrected. The unit is new if before.N is 0. Invalid
// numbers are ignored.
func (t *Tally) Grow(before, now Unit) {
	if !before.sound() || !now.sound() {
		return
	}
	if before.N == 0 && now.N > 0 {
		t.Units++
	}
	t.X = max(0, t.X+(now.X-before.X)) // rounding may leave a remainder below 0
	t.N += now.N - before.N
	t.XX = max(0, t.XX+(now.X*now.X-before.X*before.X))
	t.XN = max(0, t.XN+(now.X*now.N-before.X*before.N))
	t.NN += now.N*now.N - before.N*before.N
}

func (u Unit) sound() bool { return sound(u.X) && sound(u.N) }

func sound(x float64) bool { return x >= 0 && x < 1e15 }

// Sound reports whether a tally is possible; one from a file may not be.
func (t Tally) Sound() bool {
	return t.Units >= 0 && t.X >= 0 && t.N >= 0 && t.XX >= 0 && t.XN >= 0 && t.NN >= 0 &&
		t.X+t.N+t.XX+t.XN+t.NN < math.Inf(1) && t.N >= float64(t.Units)*(1-1e-9)
}

// Add adds another tally.
func (t *Tally) Add(o Tally) {
	t.Units += o.Units
	t.X += o.X
	t.N += o.N
	t.XX += o.XX
	t.XN += o.XN
	t.NN += o.NN
}

// Join merges two units of the tally into one.
func (t *Tally) Join(a, b Unit) {
	if a.N == 0 || b.N == 0 || !a.sound() || !b.sound() {
		return // one of them was not counted
	}
	t.Units--
	t.XX += 2 * a.X * b.X
	t.XN += a.X*b.N + b.X*a.N
	t.NN += 2 * a.N * b.N
}

// Rate returns the mean per event; NaN without events.
func (t Tally) Rate() float64 { return t.X / t.N }

// pseudo is how many units of each kind are added to the observed ones, so that a few equal units do not
// look certain.
const pseudo = 1

// Variance returns that of Rate by the delta method over units, since the events of a unit are not
// independent. It is never 0, and +Inf for fewer than two units.
func (t Tally) Variance(rate bool) float64 {
	m := float64(t.Units)
	if m < 2 || !(t.N > 0) {
		return math.Inf(1)
	}
	r := t.Rate()
	sum := max(t.XX-2*r*t.XN+r*r*t.NN, 0)
	n := t.N / m // events of a unit
	if rate {    // one more unit with all of it, and one with nothing
		sum += pseudo * n * n * ((1-r)*(1-r) + r*r)
	} else {
		sum += sum / m
	}
	return max(sum/(t.N*t.N)*m/(m-1), 1e-300)
}

// SplitOff is the probability below which a split counts as invalid.
const SplitOff = 0.001

// impossible is the least result of Split. It is not 0, which means unknown in an Ask.
const impossible = 1e-300

// suspicions are the expected deviations of an invalid split: of an arm's share in standard deviations of
// one unit, their precision in units, and their probability. They were chosen by simulation, so that 47:53
// is found soon, gross errors at once and 49:51 in the end.
var suspicions = [...]struct{ off, weight, likely float64 }{{0.06, 3000, 0.6}, {0.025, 10_000, 0.3},
	{0, 100, 0.1}}

// Split returns the probability of such counts for these shares by chance, valid at any look: 1 over a
// Bayes factor, of a mixture of Dirichlets near the shares against the shares (Lindon and Malek,
// Anytime-Valid Inference for Multinomial Count Data, 2022). Shares are relative; an arm without one can
// have no units. Negative counts are impossible.
func Split(counts []int, shares []float64) (p float64) {
	sum := 0.0
	for _, s := range shares {
		if s > 0 {
			sum += s
		}
	}
	var units, fair []float64 // of arms with a share
	for i, c := range counts {
		if i >= len(shares) || !(shares[i] > 0) {
			if c > 0 {
				return impossible
			}
			continue
		}
		units, fair = append(units, float64(max(c, 0))), append(fair, shares[i]/sum)
	}
	if len(fair) < 2 {
		return 1
	}
	log := suspicion(units, fair)
	if math.IsNaN(log) {
		return impossible // a share is infinite or almost 0
	}
	return min(1, max(impossible, math.Exp(-log)))
}

// suspicion returns the logarithm of the Bayes factor against fair shares.
func suspicion(units, fair []float64) float64 {
	var logs []float64
	for _, s := range suspicions {
		part := math.Log(s.likely / float64(2*len(fair)))
		for i, share := range fair {
			by := min(s.off*math.Sqrt(share*(1-share)), share/2, (1-share)/2)
			logs = append(logs, part+likelihood(units, fair, i, by, s.weight), part+likelihood(units, fair, i,
				-by, s.weight))
		}
	}
	log := logSum(logs)
	for i, share := range fair {
		log -= units[i] * math.Log(share)
	}
	return log
}

// likelihood returns the log-likelihood of the units if one arm's share deviates by so much, and the others
// in proportion.
func likelihood(units, fair []float64, arm int, by, weight float64) float64 {
	n, log := 0.0, lgamma(weight)
	for i, c := range units {
		share := fair[i] * (1 - by/(1-fair[arm]))
		if i == arm {
			share = fair[i] + by
		}
		n += c
		log += lgamma(weight*share+c) - lgamma(weight*share)
	}
	return log - lgamma(weight+n)
}

// logSum returns the logarithm of a sum of which the logarithms of the terms are given.
func logSum(logs []float64) float64 {
	top, sum := math.Inf(-1), 0.0
	for _, x := range logs {
		top = max(top, x)
	}
	for _, x := range logs {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum)
}

func lgamma(x float64) float64 { y, _ := math.Lgamma(x); return y }
