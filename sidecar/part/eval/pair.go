package eval

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// Pair compares two variants over labelled cases.
type Pair struct {
	A       string  `json:"a"`
	B       string  `json:"b"`
	Both    int     `json:"both_right"`
	OnlyA   int     `json:"only_a"`
	OnlyB   int     `json:"only_b"`
	Neither int     `json:"neither"`
	CasesA  int     `json:"cases_a"` // in which A is right more often; equals only_a without repetitions
	CasesB  int     `json:"cases_b"`
	P       float64 `json:"p"` // probability of this split by chance: exact sign test
}

// Finish compares all pairs of variants.
func (r *Report) Finish() {
	r.steady()
	if r.Variants[0].Labelled == 0 {
		return
	}
	for a := range r.Variants {
		for b := a + 1; b < len(r.Variants); b++ {
			r.Pairs = append(r.Pairs, r.pair(a, b))
		}
	}
}

// pair compares two variants. Repetitions of a case are not independent, so they are one observation: the
// case counts for the variant that is right more often.
func (r *Report) pair(a, b int) Pair {
	p := Pair{A: r.Variants[a].Name, B: r.Variants[b].Name}
	leads := map[string]int{} // cases in which b is better, less those in which a is
	for i, row := range r.All {
		if !row.Labelled {
			continue
		}
		unit := cmp.Or(row.unit, fmt.Sprint(i))
		switch x, y := row.Made[a].Right, row.Made[b].Right; {
		case x && y:
			p.Both++
		case x:
			p.OnlyA++
			leads[unit]--
		case y:
			p.OnlyB++
			leads[unit]++
		default:
			p.Neither++
		}
	}
	for _, lead := range leads {
		p.CasesA, p.CasesB = p.CasesA+count(lead < 0), p.CasesB+count(lead > 0)
	}
	p.P = replay.SignTest(p.CasesB, p.CasesA)
	return p
}

// Headline states which variant is best, and with what confidence.
func (r *Report) Headline() string {
	first := r.Variants[0]
	switch {
	case len(r.Variants) < 2:
		return fmt.Sprintf("%d replies, %d of them labelled.", r.Cases, first.Labelled)
	case first.Labelled == 0:
		differ := 0
		for i := range r.Rows {
			differ += count(r.Rows[i].Differs)
		}
		return fmt.Sprintf("%d replies, none of them labelled: %d read differently.", r.Cases, differ)
	}
	best := slices.MaxFunc(r.Variants, func(a, b *Sum) int { return a.Right - b.Right })
	if best.Right == first.Right {
		return fmt.Sprintf("No variant reads more of the %d labelled replies rightly than %s: %d.",
			first.Labelled, first.Name, first.Right)
	}
	i := slices.IndexFunc(r.Pairs, func(p Pair) bool { return p.A == first.Name && p.B == best.Name })
	p := r.Pairs[i]
	sure, comparisons := "and that may be chance", float64(len(r.Variants)-1)
	if p.CasesB > p.CasesA && p.P <= 0.05/comparisons { // of many variants the best is often good by chance
		sure = "and that is hardly chance"
	}
	if first.Steady != nil {
		return fmt.Sprintf("%s is right more often than %s in %d of %d cases that differ, %s (p = %.2g).",
			best.Name, first.Name, p.CasesB, p.CasesA+p.CasesB, sure, p.P)
	}
	return fmt.Sprintf("%s reads %d replies rightly that %s reads wrongly, and %d the other way round, %s (p = %.2g).", best.Name, p.OnlyB, first.Name, p.OnlyA, sure, p.P)
}
