package setup

import (
	"context"
	"net/http"
	"time"
)

// Question is what a user asks.
type Question struct {
	Server     string        // address or URL of a server; not used if Prometheus is asked
	Prometheus string        // URL; empty: the server is asked
	Over       time.Duration // 0: since the start of the server
	Prices     string        // file; empty: none
	Own        Own
}

// Report reads, asks, and does the sums.
func (q *Question) Report(ctx context.Context) (*Report, error) {
	var prices *Prices
	var err error
	if q.Prices != "" {
		if prices, err = ReadPrices(q.Prices); err != nil {
			return nil, err
		}
	}
	client := &http.Client{Timeout: 30 * time.Second}
	defer client.CloseIdleConnections()
	var usage Usage
	if q.Prometheus != "" {
		usage, err = FromPrometheus(ctx, client, q.Prometheus, q.Over)
	} else {
		usage, err = FromServer(ctx, client, q.Server, q.Over, time.Now)
	}
	if err != nil {
		return nil, err
	}
	return Of(usage, q.Own, prices)
}
