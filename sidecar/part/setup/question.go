package setup

import (
	"context"
	"net/http"
	"time"
)

// Question holds the flags of cost.
type Question struct {
	Server     string        // address or URL of a server, unless Prometheus is set
	Prometheus string        // URL; empty: ask the server
	Over       time.Duration // 0: since the start of the server
	Prices     string        // file; empty: none
	Own        Own
}

// Report reads the usage and computes the report.
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
