package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// Pick returns the arm of a unit for these shares, or -1 if all are 0. The result depends on nothing else.
// Each arm draws a waiting time for the unit, shorter for a larger share, and the shortest wins: so when
// shares change, a unit moves only if its arm shrank or the other one grew. Experiments are independent of
// each other.
func (e *Experiment) Pick(unit string, shares []float64) int {
	best, shortest := -1, math.Inf(1)
	for i, share := range shares {
		if !(share > 0) || i >= len(e.Arms) {
			continue
		}
		if wait := -math.Log(draw(e.ID, e.Arms[i].Name, unit)) / share; wait < shortest {
			best, shortest = i, wait
		}
	}
	return best
}

// draw returns a pseudo-random number between 0 and 1, both excluded.
func draw(parts ...string) float64 {
	h := sha256.New()
	for _, p := range parts {
		_ = binary.Write(h, binary.BigEndian, uint64(len(p)))
		h.Write([]byte(p))
	}
	n := binary.BigEndian.Uint64(h.Sum(nil)) >> 11
	return (float64(n) + 0.5) / (1 << 53)
}
