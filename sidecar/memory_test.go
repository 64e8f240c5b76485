package sidecar

import "testing"

func TestGCPercent(t *testing.T) {
	for _, row := range []struct {
		live uint64
		want int
	}{{0, 200}, {1 << 20, 200}, {4 << 20, 200}, {8 << 20, 100}, {10 << 20, 80}, {16 << 20, 50}, {1 << 30, 50}} {
		if got := gcPercent(row.live); got != row.want {
			t.Errorf("%d bytes: %d %%, want %d %%", row.live, got, row.want)
		}
	}
}
