package fit

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

func signs(list ...parse.Sign) parse.Set { return parse.Set(0).With(list...) }

func TestWeights(t *testing.T) {
	prior := parse.Prior()
	object, quoted := Kind{signs(parse.Object), tools.Read}, Kind{signs(parse.Object, parse.Quoted),
		tools.Read}
	for _, row := range []struct {
		name           string
		samples        Samples
		object, quoted float64 // to a tenth
	}{
		{"nothing is shown", Samples{}, 3, -7},
		{"a few do not move a weight", Samples{object: {Calls: 3}, quoted: {Texts: 2}}, 3, -7},
		{"thousands do", Samples{object: {Calls: 7311, Texts: 2689}, quoted: {Calls: 2689, Texts: 7311}}, 1, -2},
		{"no weight changes its side", Samples{object: {Texts: 10000}, quoted: {Calls: 10000}}, 0, 0},
	} {
		w := Weights(row.samples, prior)
		if math.Abs(w.Of[parse.Object]-row.object) > 0.1001 ||
			math.Abs(w.Of[parse.Quoted]-row.quoted) > 0.1001 {
			t.Errorf("%s: object %g, quoted %g; want %g and %g", row.name, w.Of[parse.Object],
				w.Of[parse.Quoted], row.object, row.quoted)
		}
		for s := range parse.Count {
			if s != parse.Object && s != parse.Quoted && w.Of[s] != prior.Of[s] {
				t.Errorf("%s: %v moved to %g, and no text has it", row.name, s, w.Of[s])
			}
		}
	}
}

// Whatever the labels: the same samples give the same weights, on the side of the prior, and
// they explain the samples at least as well as the prior does.
func TestWeightsOfAnySamples(t *testing.T) {
	prior := parse.Prior()
	rapid.Check(t, func(t *rapid.T) {
		s := Samples{}
		for range rapid.IntRange(0, 20).Draw(t, "kinds") {
			k := Kind{parse.Set(rapid.Uint32Range(0, 1<<parse.Count-1).Draw(t, "signs")), tools.Read}
			s.add(k, Count{rapid.IntRange(0, 500).Draw(t, "calls"), rapid.IntRange(0, 500).Draw(t, "texts")})
		}
		w := Weights(s, prior)
		if w != Weights(s, prior) {
			t.Fatal("two fits differ")
		}
		for sign, weight := range w.Of {
			if weight*prior.Of[sign] < 0 || math.IsNaN(weight) ||
				math.Abs(math.Round(10*weight)/10-weight) > 1e-9 {
				t.Fatalf("%v has %g, by hand %g", parse.Sign(sign), weight, prior.Of[sign])
			}
		}
		fitted, _ := s.Loss(&w)
		if before, _ := s.Loss(&prior); fitted > before+0.01 { // weights are rounded
			t.Fatalf("loss %g, was %g", fitted, before)
		}
	})
}

func TestSamples(t *testing.T) {
	a, b := Kind{signs(parse.Object), tools.Read}, Kind{signs(parse.EvidenceName), tools.Exec}
	s := Samples{a: {3, 1}, b: {2, 2}}
	if left := s.Without(Samples{a: {3, 1}, b: {1, 0}}); len(left) != 1 || left[b] != (Count{1, 2}) {
		t.Errorf("left: %v", left)
	}
	if n := s.Total(""); n != (Count{5, 3}) {
		t.Errorf("all: %v", n)
	}
	if n := s.Total(tools.Exec); n != (Count{2, 2}) {
		t.Errorf("exec: %v", n)
	}
	if n := s.With(parse.Object); n != (Count{3, 1}) {
		t.Errorf("objects: %v", n)
	}
}

func TestCurve(t *testing.T) {
	var w parse.Weights
	w.Of[parse.Object], w.Of[parse.Quoted] = 2, -2 // scores 0.88 and 0.5
	high, even := Kind{signs(parse.Object), tools.Read}, Kind{signs(parse.Object, parse.Quoted), tools.Read}
	s := Samples{high: {90, 10}, even: {0, 100}, Kind{high.Signs, tools.Exec}: {0, 50}}
	curve := s.Curve(&w, tools.Read)
	if len(curve) != 2 || curve[0].From != 0.5 || curve[0].Share() != 0 || curve[1].Share() != 0.9 ||
		math.Abs(curve[1].Said-0.881) > 0.001 {
		t.Errorf("curve: %+v", curve)
	}
	if off := Off(curve); math.Abs(off-(0.5+0.019)/2) > 0.001 {
		t.Errorf("off by %g", off)
	}
	if n := s.From(&w, tools.Read, 0.8); n != (Count{90, 10}) {
		t.Errorf("from 0.8: %v", n)
	}
	if log, square := (Samples{even: {1, 1}}).Loss(&w); math.Abs(log-math.Ln2) > 1e-9 ||
		math.Abs(square-0.25) > 1e-9 {
		t.Errorf("loss %g and %g", log, square)
	}
	if curve := (Samples{}).Curve(&w, ""); len(curve) != 0 || Off(curve) != 0 {
		t.Errorf("of nothing: %v", curve)
	}
}
