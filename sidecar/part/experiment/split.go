package experiment

import "math"

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
