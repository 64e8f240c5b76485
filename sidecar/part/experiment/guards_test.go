package experiment

import (
	"math/rand/v2"
	"testing"
)

// Guards share a chance of 5 % to stop what does no harm. What shall get better keeps its own, also
// where a guard looks at it.
func TestGuardsShare(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	e := Experiment{Measure: toolOK, Arms: make([]compiledArm, 2)}
	for _, m := range []string{Empty, Failed, Denied, Loop,
		askedAgain, toolOK, Empty} {
		e.Guards = append(e.Guards, guardrail{Measure: m})
	}
	lone := e
	lone.Guards = nil
	width := func(e *Experiment, id string) float64 {
		m, _ := MeasureOf(id)
		arm := Tally{Units: 500, X: 50, N: 500, XX: 50, XN: 50, NN: 500}
		f := judge(e, m, arm, arm, 1)
		return f.High - f.Low
	}
	for _, row := range []struct {
		measure string
		wider   bool
	}{{Empty, true}, {Loop, true}, {toolOK, false},
		{liked, false}} {
		if got := width(&e, row.measure) > width(&lone, row.measure); got != row.wider {
			t.Errorf("%s is wider: %v", row.measure, got)
		}
	}
	const runs = 400
	shared, each := 0, 0
	for i := range runs {
		r := rand.New(rand.NewPCG(uint64(i), 5))
		var arms [2]map[string]Tally
		arms[0], arms[1] = map[string]Tally{}, map[string]Tally{}
		var stopped [2]bool
		for k := range 5000 {
			of := arms[r.IntN(2)]
			for _, g := range guarded(&e) {
				tally := of[g]
				tally.Grow(Unit{}, Unit{X: number(r.Float64() < 0.15), N: 1})
				of[g] = tally
			}
			for n, x := range []*Experiment{&e, &lone} {
				for _, g := range guarded(&e) {
					if m, _ := MeasureOf(g); k%50 == 49 && !stopped[n] {
						stopped[n] = judge(x, m, arms[0][g], arms[1][g], 1).Kind == Worse
					}
				}
			}
		}
		shared, each = shared+int(number(stopped[0])), each+int(number(stopped[1]))
	}
	t.Logf("five guards stop an experiment by chance in %.1f %%, each with 5 %% of its own in %.1f %%",
		100*float64(shared)/runs, 100*float64(each)/runs)
	if shared > runs/20 || shared > each {
		t.Errorf("%d and %d of %d", shared, each, runs)
	}
}
