package replay

import (
	"math"
	"testing"
)

func TestSignTest(t *testing.T) {
	for _, row := range []struct {
		better, worse int
		want          float64
	}{{0, 0, 1}, {1, 0, 1}, {5, 0, 0.0625}, {0, 5, 0.0625}, {9, 1, 22.0 / 1024}, {3, 3, 1},
		{8, 2, 112.0 / 1024}, {40000, 10, 0}} {
		got := SignTest(row.better, row.worse)
		if math.Abs(got-row.want) > 1e-9 {
			t.Errorf("%d better, %d worse: %v, want %v", row.better, row.worse, got, row.want)
		}
	}
}
