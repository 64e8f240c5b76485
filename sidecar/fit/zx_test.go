package fit

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/noise"
	"github.com/jgavinray/gpt-oss-executor/internal/ruletest"
)

func TestZX(t *testing.T) {
	read := reading(t, ruletest.Shipped(t))
	for _, o := range []noise.Options{{Chain: -1, Negatives: true}, {Mix: "gpt-5", Negatives: true}} {
		if err := noise.Measure(77_000_000, 200000, o, read).Write(t.Output(), "all"); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []int{1, 2, 4} {
		if err := noise.Measure(77_000_000, 60000, noise.Options{Chain: c}, read).Write(t.Output(), "all"); err != nil {
			t.Fatal(err)
		}
	}
}
