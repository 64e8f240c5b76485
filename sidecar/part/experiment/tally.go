package experiment

import "math"

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
