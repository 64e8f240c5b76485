package sidecar

import (
	"net/http"
	"testing"
	"time"
)

func TestKeepaliveOf(t *testing.T) {
	for _, row := range []struct {
		header string
		want   time.Duration
	}{
		{"", 5 * time.Second}, {"600", 5 * time.Second}, {"6", 2 * time.Second}, {"0.1", 100 * time.Millisecond},
		{"-3", 5 * time.Second}, {"NaN", 5 * time.Second}, {"Inf", 5 * time.Second}, {"1e300", 5 * time.Second}, {"x", 5 * time.Second},
	} {
		waits := callerWaits(http.Header{"X-Stainless-Timeout": {row.header}})
		if got := keepalive(waits, 5*time.Second); got != row.want {
			t.Errorf("%q: %s, want %s", row.header, got, row.want)
		}
	}
}
