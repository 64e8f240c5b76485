package script

import (
	"slices"
	"strings"
	"testing"
)

func TestPieces(t *testing.T) {
	text := "żółć <|channel|> ☃☃"
	for n := 1; n < 12; n++ {
		got := pieces(text, n)
		if strings.Join(got, "") != text ||
			!slices.ContainsFunc(got, func(p string) bool { return len(p) >= n }) {
			t.Errorf("%d: %q", n, got)
		}
	}
}
