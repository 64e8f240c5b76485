package anytime

import (
	"math"
	"math/rand/v2"
	"testing"
)

// runs of a simulation; fewer in short tests.
func runs(t *testing.T, n int) int {
	t.Helper()
	if testing.Short() {
		return n / 10
	}
	return n
}

// session draws the totals of one session.
type session func(*rand.Rand) Unit

// one event that goes well with probability p.
func one(p float64) session {
	return func(r *rand.Rand) Unit {
		if r.Float64() < p {
			return Unit{1, 1}
		}
		return Unit{0, 1}
	}
}

// clustered events: 1 to 20, whose rate differs from session to session.
func clustered(p float64) session {
	return func(r *rand.Rand) Unit {
		rate := min(max(p+0.25*r.NormFloat64(), 0), 1)
		u := Unit{N: float64(1 + r.IntN(20))}
		for range int(u.N) {
			if r.Float64() < rate {
				u.X++
			}
		}
		return u
	}
}

// latency in milliseconds, with a heavy tail.
func latency(r *rand.Rand) Unit { return Unit{math.Exp(6 + 1.2*r.NormFloat64()), 1} }

// simulate looks after every 50 sessions, and gives the share of runs in which a difference was
// ever seen.
func simulate(n, sessions int, a, b session, rate bool, differs func(a, b Tally) bool) float64 {
	found := 0
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		var arms [2]Tally
		for k := range sessions {
			draw, arm := a, r.IntN(2)
			if arm == 1 {
				draw = b
			}
			arms[arm].Grow(Unit{}, draw(r))
			if k%50 == 49 && differs(arms[0], arms[1]) {
				found++
				break
			}
		}
	}
	return float64(found) / float64(n)
}

func sequence(rate bool) func(a, b Tally) bool {
	return func(a, b Tally) bool {
		low, high, ok := Difference(a, b, 0.05, rate)
		return ok && (low > 0 || high < 0)
	}
}

// Where there is no difference, one is seen in at most 5 % of experiments, however often one
// looks; where looks count for nothing, in a third.
func TestFalseAlarms(t *testing.T) {
	n := runs(t, 1000)
	for name, row := range map[string]struct {
		s    session
		rate bool
	}{
		"85 %": {one(0.85), true}, "1 %": {one(0.01), true}, "99 %": {one(0.99), true},
		"clustered": {clustered(0.85), true}, "latency": {latency, false},
	} {
		if f := simulate(n, 5000, row.s, row.s, row.rate, sequence(row.rate)); f > 0.05 {
			t.Errorf("%s: %.1f %% false alarms", name, 100*f)
		} else {
			t.Logf("%s: %.1f %% false alarms", name, 100*f)
		}
	}
	peeking := simulate(n, 5000, one(0.85), one(0.85), true, func(a, b Tally) bool {
		return math.Abs(a.Rate()-b.Rate()) > 1.96*math.Sqrt(a.Variance(true)+b.Variance(true))
	})
	t.Logf("a test that is meant for one look: %.1f %%", 100*peeking)
	if peeking < 0.15 {
		t.Errorf("the simulation shows no harm in peeking: %.2f", peeking)
	}
}

// A difference of 5 points is found within 4,000 sessions.
func TestPower(t *testing.T) {
	n := runs(t, 1000)
	for name, row := range map[string][2]session{
		"85 to 90 %": {one(0.85), one(0.9)}, "90 to 85 %": {one(0.9), one(0.85)},
	} {
		if f := simulate(n, 4000, row[0], row[1], true, sequence(true)); f < 0.95 {
			t.Errorf("%s: found in %.1f %%", name, 100*f)
		} else {
			t.Logf("%s: found in %.1f %%", name, 100*f)
		}
	}
}

// A split that is off is called so, and one that is right is not, at any look.
func TestSplit(t *testing.T) {
	called := func(n int, real float64) float64 {
		off := 0
		for i := range n {
			r := rand.New(rand.NewPCG(uint64(i), 9))
			counts := []int{0, 0}
			for k := range 5000 {
				arm := 0
				if r.Float64() < real {
					arm = 1
				}
				counts[arm]++
				if k%50 == 49 && Split(counts, []float64{0.5, 0.5}) < SplitOff {
					off++
					break
				}
			}
		}
		return float64(off) / float64(n)
	}
	if f := called(runs(t, 5000), 0.5); f > 0.001 {
		t.Errorf("a right split is called off in %.2f %%", 100*f)
	}
	for real, least := range map[float64]float64{0.53: 0.5, 0.55: 0.99, 0.6: 0.999} {
		if f := called(runs(t, 500), real); f < least {
			t.Errorf("a split of %.2f is called off in %.1f %%", real, 100*f)
		} else {
			t.Logf("a split of %.2f is called off in %.1f %%", real, 100*f)
		}
	}
	if Split([]int{10, 1}, []float64{1, 0}) != 0 || Split([]int{0, 0}, []float64{0.5, 0.5}) != 1 {
		t.Error("an arm without a share has units, or nothing was counted")
	}
}

// Shares that adapt never starve an arm, and go where it goes better.
func TestShares(t *testing.T) {
	right := 0
	for i := range 100 {
		r := rand.New(rand.NewPCG(uint64(i), 11))
		rates := []float64{0.8, 0.8, 0.88}
		arms := make([]Tally, 3)
		shares := Shares(arms, 0.1, true, false)
		for k := range 3000 {
			arm, x := 0, r.Float64()
			for x > shares[arm] && arm < 2 {
				x -= shares[arm]
				arm++
			}
			arms[arm].Grow(Unit{}, one(rates[arm])(r))
			if k%50 == 0 {
				shares = Shares(arms, 0.1, true, false)
				sum := 0.0
				for _, s := range shares {
					if sum += s; s < 0.1-1e-9 {
						t.Fatalf("an arm starves: %v", shares)
					}
				}
				if math.Abs(sum-1) > 1e-9 {
					t.Fatal(shares)
				}
			}
		}
		if shares[2] > 0.5 {
			right++
		}
	}
	if right < 90 {
		t.Errorf("in %d of 100 runs most sessions go to the best arm", right)
	}
}
