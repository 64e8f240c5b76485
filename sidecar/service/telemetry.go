package service

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/trace"
	"github.com/jgavinray/gpt-oss-executor/sidecar/spans"
)

// flushTime is how long the end of the program waits, at most, for a collector.
const flushTime = 5 * time.Second

// sends begins to send spans and metrics, where the standard variables name a collector. If they are wrong,
// the server serves all the same. Ended sends what is left.
func (r *running) sends() (ended func()) {
	settings, err := trace.Read(r.Environ)
	var sender *trace.Sender
	if err == nil {
		sender, err = trace.Open(trace.Config{Settings: settings, Metrics: r.Metrics, Name: spans.Name,
			Version: version(), Log: r.Log})
	}
	if err != nil {
		r.Log.Error("no spans and no metrics are sent to a collector", "event", "telemetry_off",
			"detail", err.Error())
	}
	if sender == nil {
		return func() {}
	}
	if t := sender.Tracer(); t != nil {
		r.spans = spans.New(t)
	}
	r.Log.Info("spans and metrics are sent to a collector", "event", "telemetry_on",
		"spans", settings.Traces.URL != "", "metrics", settings.Metrics.URL != "")
	return func() {
		grace := min(r.Rules.Set().Limits.Grace, flushTime)
		ctx, cancel := context.WithTimeout(context.Background(), max(grace, time.Second))
		defer cancel()
		if err := sender.Close(ctx); err != nil {
			r.Log.Warn("the last spans could not be sent", "event", "telemetry_lost", "what", "spans",
				"detail", err.Error())
		}
	}
}

// version is that of the program; empty: unknown.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return built.Of(info).Version
}
