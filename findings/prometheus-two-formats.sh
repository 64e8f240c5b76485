#!/usr/bin/env bash
# github.com/prometheus/client_golang v1.25.0: a histogram has other labels in OpenMetrics than in the text format.
#
# With EnableOpenMetrics the page is written as the scraper asks. curl and a scraper without OpenMetrics are shown
# le="1" and le="10", a Prometheus that asks for OpenMetrics le="1.0" and le="10.0". A query or an alert that was
# written by what curl showed finds no series. A counter without _total is of type unknown there.
#
# Seen with Go 1.26.8: le="1" and counter, le="1.0" and unknown.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/prometheus/client_golang v1.25.0\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func main() {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "calls"}),
		prometheus.NewHistogram(prometheus.HistogramOpts{Name: "wait_seconds", Buckets: []float64{1, 2.5}}))
	handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	for _, accept := range []string{"text/plain;version=0.0.4", "application/openmetrics-text;version=1.0.0"} {
		request := httptest.NewRequest("GET", "/metrics", nil)
		request.Header.Set("Accept", accept)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		for line := range strings.Lines(answer.Body.String()) {
			if strings.Contains(line, "le=") || strings.HasPrefix(line, "# TYPE calls") {
				fmt.Print(line)
			}
		}
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '# TYPE calls counter
wait_seconds_bucket{le="1"} 0
wait_seconds_bucket{le="2.5"} 0
wait_seconds_bucket{le="+Inf"} 0
# TYPE calls unknown
wait_seconds_bucket{le="1.0"} 0
wait_seconds_bucket{le="2.5"} 0
wait_seconds_bucket{le="+Inf"} 0' ]
echo 'as described'
