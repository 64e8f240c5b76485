package fit

import (
	"math"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Classes are those that have thresholds of their own.
func Classes() []tools.Class { return []tools.Class{tools.Read, tools.Write, tools.Exec} }

// Bin are texts whose scores are near each other. Said is their mean score; if scores mean
// something, it is the share of calls among them.
type Bin struct {
	From, To float64
	Said     float64
	Count
}

// Share is how many of them are calls.
func (b *Bin) Share() float64 { return float64(b.Calls) / float64(max(1, b.all())) }

// edges part scores. They are close together at the ends, where the thresholds are.
var edges = [...]float64{0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1}

// Curve says of texts of a class how often those of a score are calls; "" is every class.
// Empty bins are left out.
func (s Samples) Curve(w *parse.Weights, class tools.Class) []Bin {
	bins := make([]Bin, len(edges)-1)
	for _, k := range s.kinds() {
		if class != "" && k.Class != class {
			continue
		}
		n, score := s[k], w.Score(k.Signs)
		i := 0
		for i < len(bins)-1 && score >= edges[i+1] {
			i++
		}
		bins[i].Calls += n.Calls
		bins[i].Texts += n.Texts
		bins[i].Said += score * float64(n.all())
	}
	for i := range bins {
		b := &bins[i]
		b.From, b.To = edges[i], edges[i+1]
		b.Said /= float64(max(1, b.all()))
	}
	return slices.DeleteFunc(bins, func(b Bin) bool { return b.all() == 0 })
}

// Off is the expected calibration error of a curve: how far what is said and what is are
// apart, on average over the texts.
func Off(curve []Bin) float64 {
	sum, n := 0.0, 0
	for _, b := range curve {
		sum += math.Abs(b.Said-b.Share()) * float64(b.all())
		n += b.all()
	}
	return sum / float64(max(1, n))
}

// Loss is how surprising the labels are under the weights: the mean logarithmic loss, in nats,
// and the mean squared one (Brier).
func (s Samples) Loss(w *parse.Weights) (log, square float64) {
	for _, k := range s.kinds() {
		n, x, p := s[k], w.Sum(k.Signs), w.Score(k.Signs)
		log += float64(n.Calls)*math.Log1p(math.Exp(-x)) + float64(n.Texts)*math.Log1p(math.Exp(x))
		square += float64(n.Calls)*(1-p)*(1-p) + float64(n.Texts)*p*p
	}
	all := float64(max(1, s.Total("").all()))
	return log / all, square / all
}

// From counts the texts of a class that reach a score.
func (s Samples) From(w *parse.Weights, class tools.Class, score float64) (out Count) {
	for k, n := range s {
		if k.Class == class && w.Score(k.Signs) >= score {
			out.Calls += n.Calls
			out.Texts += n.Texts
		}
	}
	return out
}
