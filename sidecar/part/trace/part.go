// Package trace sends spans and metrics to a collector of OpenTelemetry, if the standard variables name one.
package trace

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// Part is the part trace.
type Part struct{}

// Name returns the name of the part.
func (Part) Name() string { return "trace" }

// Settings returns nil: only the standard variables count.
func (Part) Settings() any { return nil }

// Rules returns what spans hold of the words of people and models.
func (Part) Rules() []ruleset.Section {
	return []ruleset.Section{{Name: "trace",
		About: "What spans of OpenTelemetry hold of what people and models wrote. If left out: nothing.",
		Holds: &telemetry.Words{}}}
}

// Commands returns none.
func (Part) Commands(cli.Env) []*cobra.Command { return nil }

// flushTime bounds the wait for a collector at the end of the program.
const flushTime = 5 * time.Second

// Open starts to send. With wrong variables the server serves all the same. stop sends what is left.
func (Part) Open(_ context.Context, c *service.Core) (stop func() error, err error) {
	if c.Offline {
		return nil, nil
	}
	settings, err := Read(c.Environ)
	var sender *Sender
	if err == nil {
		sender, err = Open(Config{Settings: settings, Metrics: c.Metrics, Version: built.Version(),
			Log: c.Log})
	}
	if err != nil {
		c.Log.Error("no spans and no metrics are sent to a collector", "event", "telemetry_off",
			"detail", err.Error())
	}
	if sender == nil {
		return nil, nil
	}
	c.Spans = sender.Tracer()
	c.Log.Info("spans and metrics are sent to a collector", "event", "telemetry_on",
		"spans", settings.Traces.URL != "", "metrics", settings.Metrics.URL != "")
	return func() error {
		grace := min(c.Rules.Set().Limits.Grace, flushTime)
		ctx, cancel := context.WithTimeout(context.Background(), max(grace, time.Second))
		defer cancel()
		if err := sender.Close(ctx); err != nil {
			c.Log.Warn("the last spans could not be sent", "event", "telemetry_lost", "what", "spans",
				"detail", err.Error())
		}
		return nil
	}, nil
}
