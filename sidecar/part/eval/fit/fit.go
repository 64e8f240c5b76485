package fit

import (
	"math"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// pull is how strongly a weight is held to its prior: one that is 1 off costs half of this, in
// nats. A sign that a dozen texts show stays where a person has put it; one that hundreds show goes
// where they want it.
const pull = 20.0

const (
	rounds = 500
	enough = 1e-7 // no weight moves further in a round: the fit has ended
)

// Weights are those under which the samples are most probable (logistic regression), held to
// a prior (L2). A weight does not change its side: what speaks against a call by hand never
// comes to speak for one. The base stays, since each text has one sign of how it is written,
// which says the same. Weights are rounded to a tenth.
func Weights(s Samples, prior parse.Weights) parse.Weights {
	w, kinds := prior, s.kinds()
	for range rounds {
		most := 0.0
		for sign := range parse.Count {
			next := step(s, kinds, &w, &prior, sign)
			most = max(most, math.Abs(next-w.Of[sign]))
			w.Of[sign] = next
		}
		if most < enough {
			break
		}
	}
	for sign := range w.Of {
		w.Of[sign] = math.Round(10*w.Of[sign])/10 + 0 // + 0: no -0
	}
	return w
}

// step is one weight after a step of Newton, while the others stand still.
func step(s Samples, kinds []Kind, w, prior *parse.Weights, sign parse.Sign) float64 {
	old, by := w.Of[sign], prior.Of[sign]
	slope, bend := pull*(by-old), pull
	for _, k := range kinds {
		if !k.Signs.Has(sign) {
			continue
		}
		n, p := s[k], w.Score(k.Signs)
		slope += float64(n.Calls) - float64(n.all())*p
		bend += float64(n.all()) * p * (1 - p)
	}
	next := old + max(-1, min(1, slope/bend))
	if by < 0 {
		return min(next, 0)
	}
	return max(next, 0)
}
