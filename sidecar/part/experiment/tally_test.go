package experiment

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Tallies of several processes add up to one, in any order, also where a unit is in both of them; and
// events come in any order.
func TestTalliesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Unit {
			n := rapid.IntRange(1, 30).Draw(t, "n")
			return Unit{float64(rapid.IntRange(0, n).Draw(t, "x")), float64(n)}
		}), 0, 50).Draw(t, "units")
		var whole, here, there, steps Tally
		var moved [][2]Unit
		for i, u := range units {
			whole.Grow(Unit{}, u)
			switch part := (Unit{min(u.X, 1), 1}); {
			case i%3 == 0:
				here.Grow(Unit{}, u)
			case i%3 == 1 || u.N < 2:
				there.Grow(Unit{}, u)
			default:
				here.Grow(Unit{}, part)
				there.Grow(Unit{}, Unit{u.X - part.X, u.N - part.N})
				moved = append(moved, [2]Unit{part, {u.X - part.X, u.N - part.N}})
			}
			was := Unit{}
			for k := range int(u.N) {
				now := Unit{min(u.X, float64(k+1)), float64(k + 1)}
				steps.Grow(was, now)
				was = now
			}
		}
		sum, other := here, there
		sum.Add(there)
		other.Add(here)
		for _, u := range moved {
			sum.Join(u[0], u[1])
			other.Join(u[1], u[0])
		}
		if sum != whole || other != whole || steps != whole || !whole.Sound() {
			t.Fatalf("%+v %+v %+v %+v", whole, sum, other, steps)
		}
	})
}

// Nothing that is counted, and nothing that a file says, gives what is no number.
func TestOddTallies(t *testing.T) {
	for _, a := range []Tally{{}, {Units: 1, X: 1, N: 1, XX: 1, XN: 1, NN: 1}, {Units: -5},
		{Units: 100, N: math.NaN()}, {Units: 1e9, X: 1e12, N: 1e12, XX: 1e15, XN: 1e15, NN: 1e15},
		{Units: 100, X: 1e300, N: 100, XX: 1e300, XN: 1e300, NN: 1e300}, {Units: 100, X: -50, N: 100, XX: 50, XN: 50, NN: 100},
		{Units: math.MaxInt, X: 1e300, N: 1e300, XX: 1, XN: 1, NN: 1e300}, {Units: 100, X: math.Inf(1), N: 100},
		{Units: 100, X: 100, N: 100, XX: 100, XN: 100, NN: 100}, {Units: 100, N: 100, NN: 100}} {
		for _, rate := range []bool{true, false} {
			for _, f := range []Finding{Judge(a, a, Ask{Rate: rate}),
				Judge(a, a, Ask{Rate: rate, Alpha: math.NaN()}), Judge(a, a, Ask{Rate: rate, Alpha: 7})} {
				if f.Kind != Early || !finite(f.Effect) || !finite(f.Low) || !finite(f.High) ||
					f.Words("ms") != "undecided" {
					t.Errorf("%+v: %+v", a, f)
				}
			}
			for _, floor := range []float64{-3, 0, 0.6, 7, math.NaN(), math.Inf(-1)} {
				one := Shares([]Tally{a, a}, floor, rate, true)
				if sum := one[0] + one[1]; !(sum > 0.999 && sum < 1.001 && one[0] >= 0 && one[1] >= 0) {
					t.Errorf("%+v: with a floor of %v: %v", a, floor, one)
				}
			}
			for _, s := range Shares([]Tally{a, a}, 0.1, rate, false) {
				if !(s >= 0.1) || s > 0.9 {
					t.Errorf("%+v: share %v", a, s)
				}
			}
		}
	}
	var t0 Tally
	t0.Grow(Unit{}, Unit{math.NaN(), 1})
	t0.Grow(Unit{}, Unit{-1, 1})
	t0.Grow(Unit{}, Unit{1, math.Inf(1)})
	if t0 != (Tally{}) {
		t.Errorf("%+v", t0)
	}
	if (Tally{Units: 5, N: 1}).Sound() || (Tally{X: math.NaN()}).Sound() {
		t.Error("this was never counted")
	}
}

// What is no split gives a probability all the same, and one that cannot be is called off.
func TestOddSplits(t *testing.T) {
	for _, row := range []struct {
		counts []int
		shares []float64
		off    bool
	}{
		{nil, nil, false},
		{[]int{0, 0}, []float64{0.5, 0.5}, false},
		{[]int{-5, 3}, []float64{0.5, 0.5}, false},
		{[]int{500, 500}, []float64{50, 50}, false},
		{[]int{500, 500}, []float64{0.5}, true},
		{[]int{10, 0}, []float64{1, 0}, false},
		{[]int{10, 1}, []float64{1, 0}, true},
		{[]int{10, 1}, []float64{math.NaN(), math.Inf(1)}, true},
		{[]int{1e12, 1e12}, []float64{0.5, 0.5}, false},
		{[]int{1e6, 0}, []float64{0.5, 0.5}, true}, // so sure that the probability is no number above 0
	} {
		p := Split(row.counts, row.shares)
		if !(p > 0 && p <= 1) || (p < SplitOff) != row.off {
			t.Errorf("%v of %v: %v", row.counts, row.shares, p)
		}
		if f := Judge(Tally{}, Tally{}, Ask{Split: p}); (f.Kind == Broken) != row.off {
			t.Errorf("%v of %v: %v", row.counts, row.shares, f.Kind)
		}
	}
}

// Twice as much of the same says as much or more.
func TestMoreIsNarrower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Bool().Draw(t, "rate")
		var arms [2]Tally
		for i := range arms {
			for range rapid.IntRange(fewest, 200).Draw(t, "units") {
				n := rapid.IntRange(1, 20).Draw(t, "n")
				x := rapid.IntRange(0, n).Draw(t, "x")
				if !rate {
					x *= 1000
				}
				arms[i].Grow(Unit{}, Unit{float64(x), float64(n)})
			}
		}
		low, high, ok := difference(arms[0], arms[1], 0.05, rate)
		for range 12 {
			arms[0].Add(arms[0])
			arms[1].Add(arms[1])
			l, h, still := difference(arms[0], arms[1], 0.05, rate)
			if !ok || !still || h-l > (high-low)*(1+1e-9) {
				t.Fatalf("%v to %v, then %v to %v", low, high, l, h)
			}
			low, high = l, h
		}
	})
}

func TestWords(t *testing.T) {
	many := func(good float64) (out Tally) {
		for i := range 3000 {
			x := 0.0
			if float64(i) < 3000*good {
				x = 1
			}
			out.Grow(Unit{}, Unit{x, 1})
		}
		return out
	}
	rare := func(r float64) Tally {
		const m = 10_000_000
		return Tally{Units: m, X: m * r, N: m, XX: m * r, XN: m * r, NN: m}
	}
	slow := Tally{Units: 2000, X: 2000 * 500, N: 2000, XX: 2000 * (500*500 + 100*100), XN: 2000 * 500,
		NN: 2000}
	fast := Tally{Units: 2000, X: 2000 * 300, N: 2000, XX: 2000 * (300*300 + 100*100), XN: 2000 * 300,
		NN: 2000}
	for _, row := range []struct {
		a, b Tally
		ask  Ask
		unit string
		want string
	}{
		{many(0.8), many(0.9), Ask{Rate: true}, "", "better by 7.0 to 13.0 points"},
		{many(0.9), many(0.8), Ask{Rate: true}, "", "worse by 7.0 to 13.0 points"},
		{many(0.1), many(0.2), Ask{Rate: true, LowerIsBetter: true}, "", "worse by 7.0 to 13.0 points"},
		{many(0.8), many(0.8), Ask{Rate: true}, "", "undecided"},
		{many(0.8), many(0.8), Ask{Rate: true, Margin: 0.05}, "", "no difference of 3.2 points or more"},
		{rare(0.001), rare(0.001), Ask{Rate: true, Margin: 0.001}, "", "no difference of 0.006 points or more"},
		{many(0.8), many(0.9), Ask{Rate: true, Split: 0.0001}, "", "the split is off: do not trust this"},
		{slow, fast, Ask{LowerIsBetter: true}, "ms", "better by 190 to 210 ms"},
		{rare(0.001), rare(0.0013), Ask{Rate: true}, "", "better by 0.02 to 0.04 points"},
		{Tally{}, many(0.9), Ask{Rate: true}, "", "undecided"},
	} {
		if got := Judge(row.a, row.b, row.ask).Words(row.unit); got != row.want {
			t.Errorf("%s, not %s", got, row.want)
		}
	}
}

// A difference that is not yet known has its sign, and is never told as 0.0.
func TestInterval(t *testing.T) {
	for want, f := range map[string]Finding{
		"-12.1 to +69.3 points": {Low: -0.121, High: 0.693}, "-0.004 to +0.0002 points": {Low: -0.00004, High: 0.000002}, "+120 to +131 ms": {Low: 120, High: 131},
	} {
		unit := ""
		if strings.HasSuffix(want, "ms") {
			unit = "ms"
		}
		if got := f.Interval(unit); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
