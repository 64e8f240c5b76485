package experiment

import (
	"math"
	"math/rand/v2"
	"testing"
)

// runs of a simulation; fewer in short tests.
func runs(n int, short bool) int {
	if short {
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

// clustered events: 1 to 20, whose rate differs from session to session by a Beta.
func clustered(good, bad int) session {
	return func(r *rand.Rand) Unit {
		x, y := gamma(r, good), gamma(r, bad)
		u := Unit{N: float64(1 + r.IntN(20))}
		for range int(u.N) {
			if r.Float64() < x/(x+y) {
				u.X++
			}
		}
		return u
	}
}

func gamma(r *rand.Rand, k int) (sum float64) {
	for range k {
		sum += r.ExpFloat64()
	}
	return sum
}

// latency in milliseconds, with a heavy tail.
func latency(middle, width float64) session {
	return func(r *rand.Rand) Unit { return Unit{middle * math.Exp(width*r.NormFloat64()), 1} }
}

// spikes are values that are 0 but for a few.
func spikes(p float64) session {
	return func(r *rand.Rand) Unit {
		if r.Float64() > p {
			return Unit{0, 1}
		}
		return Unit{400 * math.Exp(r.NormFloat64()), 1}
	}
}

// trial is an experiment of two arms.
type simulated struct {
	a, b     session
	rate     bool
	share    float64 // of the first arm; 0: half
	adaptive bool
}

// simulate looks after every 50 sessions, and gives the share of runs in which a difference was
// ever seen.
func (x simulated) simulate(n, sessions int, differs func(a, b Tally) bool) float64 {
	found := 0
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		var arms [2]Tally
		share := x.share
		if share == 0 {
			share = 0.5
		}
		for k := range sessions {
			if r.Float64() < share {
				arms[0].Grow(Unit{}, x.a(r))
			} else {
				arms[1].Grow(Unit{}, x.b(r))
			}
			if k%50 != 49 {
				continue
			}
			if differs(arms[0], arms[1]) {
				found++
				break
			}
			if x.adaptive {
				share = Shares(arms[:], 0.1, x.rate, false)[0]
			}
		}
	}
	return float64(found) / float64(n)
}

func (x simulated) sequence(a, b Tally) bool {
	low, high, ok := difference(a, b, 0.05, x.rate)
	return ok && (low > 0 || high < 0)
}

func (x simulated) oneLook(a, b Tally) bool {
	return math.Abs(a.Rate()-b.Rate()) > 1.96*math.Sqrt(a.Variance(x.rate)+b.Variance(x.rate))
}

// Where there is no difference, one is seen in at most 5 % of experiments, however often one
// looks, and also where one arm is small or shares adapt. Where looks count for nothing, one is
// seen in a third.
func TestFalseAlarms(t *testing.T) {
	n := runs(1000, testing.Short())
	for _, row := range []struct {
		name string
		s    session
		rate bool
	}{
		{"85 %", one(0.85), true}, {"1 %", one(0.01), true}, {"5 %", one(0.05), true}, {"99 %", one(0.99), true},
		{"clustered, 85 %", clustered(17, 3), true}, {"clustered, all rates", clustered(1, 1), true},
		{"latency", latency(400, 1.2), false}, {"latency, very heavy tail", latency(400, 2), false},
		{"spikes", spikes(0.03), false},
	} {
		equal := simulated{a: row.s, b: row.s, rate: row.rate}
		small, adaptive := equal, equal
		small.share, adaptive.adaptive = 0.9, true
		of := [3]float64{
			equal.simulate(n, 5000, equal.sequence),
			small.simulate(n/2, 5000, equal.sequence),
			adaptive.simulate(max(n/10, 50), 5000, equal.sequence),
		}
		t.Logf("%-25s equal shares %.1f %%, 90:10 %.1f %%, adaptive %.1f %%", row.name, 100*of[0], 100*of[1],
			100*of[2])
		for _, f := range of {
			if f > 0.05 {
				t.Errorf("%s: false alarms %.3f", row.name, of)
			}
		}
	}
	x := simulated{a: one(0.85), b: one(0.85), rate: true}
	peeking := x.simulate(n, 5000, x.oneLook)
	t.Logf("a test that is meant for one look: %.1f %%", 100*peeking)
	if peeking < 0.15 {
		t.Errorf("the simulation shows no harm in peeking: %.2f", peeking)
	}
}

// A difference of 5 points is found within 4,000 sessions, and of a quarter in a latency.
func TestPower(t *testing.T) {
	for _, row := range []struct {
		name  string
		x     simulated
		least float64
	}{
		{"85 to 90 %", simulated{a: one(0.85), b: one(0.9), rate: true}, 0.95},
		{"90 to 85 %", simulated{a: one(0.9), b: one(0.85), rate: true}, 0.95},
		{"400 to 300 ms", simulated{a: latency(400, 1), b: latency(300, 1)}, 0.95},
	} {
		f := row.x.simulate(1000, 4000, row.x.sequence)
		t.Logf("%s: found in %.1f %%", row.name, 100*f)
		if f < row.least {
			t.Errorf("%s: found in %.3f", row.name, f)
		}
	}
}

// A split that is off is called so, and one that is right is not, at any look. 47:53 cannot be
// told from 50:50 in 5,000 units so surely: even a test that looks once finds it in 83 %.
func TestSplit(t *testing.T) {
	called := func(n, units int, real float64) float64 {
		off := 0
		for i := range n {
			r := rand.New(rand.NewPCG(uint64(i), 9))
			counts := []int{0, 0}
			for k := range units {
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
	f := called(runs(5000, testing.Short()), 5000, 0.5)
	t.Logf("a right split is called off in %.2f %%", 100*f)
	if f > 0.001 {
		t.Errorf("a right split is called off in %.4f", f)
	}
	for _, row := range []struct {
		real  float64
		units int
		least float64
	}{{0.53, 5000, 0.58}, {0.53, 10000, 0.95}, {0.55, 2000, 0.55}, {0.55, 5000, 0.99}, {0.6, 500, 0.25},
		{0.6, 1000, 0.9}, {0.52, 10000, 0.4}} {
		f := called(runs(500, testing.Short()), row.units, row.real)
		t.Logf("a split of %.2f is called off within %d units in %.1f %%", row.real, row.units, 100*f)
		if f < row.least {
			t.Errorf("a split of %.2f is called off within %d units in %.3f", row.real, row.units, f)
		}
	}
}

// The Bayes factor against fair shares is 1 on average where they are fair: by Ville, it is ever
// 1,000 in at most one of 1,000 experiments.
func TestSuspicionIsFair(t *testing.T) {
	for _, fair := range [][]float64{{0.5, 0.5}, {0.9, 0.1}, {0.999, 0.001}, {0.5, 0.3, 0.2},
		{0.98, 0.01, 0.01}} {
		const n = 40
		mean := 0.0
		for a := range n + 1 {
			for b := range n + 1 - a {
				units := []float64{float64(a), float64(n - a)}
				if len(fair) == 3 {
					units = []float64{float64(a), float64(b), float64(n - a - b)}
				} else if b > 0 {
					break
				}
				log := lgamma(n + 1)
				for i, u := range units {
					log += u*math.Log(fair[i]) - lgamma(u+1)
				}
				mean += math.Exp(log + suspicion(units, fair))
			}
		}
		if math.Abs(mean-1) > 1e-9 {
			t.Errorf("%v: %v", fair, mean)
		}
	}
}

// Shares that adapt never starve an arm, and go where it goes better.
func TestShares(t *testing.T) {
	right := 0
	for i := range runs(100, testing.Short()) {
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
	t.Logf("in %d of %d runs most sessions go to the best arm", right, runs(100, testing.Short()))
	if right*10 < runs(100, testing.Short())*9 {
		t.Errorf("in %d of %d runs most sessions go to the best arm", right, runs(100, testing.Short()))
	}
}
