// Package experiment tries rules on a share of the sessions, counts the outcomes, and records replies as
// JSON lines that explain --jsonl and eval read. It changes no reply, judges no call, and delays no
// request.
package experiment

import (
	"context"
	_ "embed"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Part implements service.Part.
type Part struct{}

func (Part) Name() string { return "experiment" }

// Settings returns nil: everything is in the rules.
func (Part) Settings() any { return nil }

// Rules returns the section of experiments and recording.
func (Part) Rules() []ruleset.Section { return []ruleset.Section{Section()} }

//go:embed help.txt
var help string

// Commands returns the commands experiments and capture.
func (Part) Commands(env cli.Env) []*cobra.Command {
	return cli.Describe(help, captureCommand(env), experimentsCommand(env))
}

// Open opens the tracker, with its files in the state folder, if there is one.
func (Part) Open(_ context.Context, c *service.Core) (stop func() error, err error) {
	if c.Offline {
		return nil, nil
	}
	path, store, open := "", (*captureStore)(nil), OpenCaptures
	var before <-chan struct{}
	if c.Given.FromPrevious() {
		open, before = openCapturesAfter, c.Given.Gone()
	}
	if c.Settings.State != "" {
		if store, err = open(filepath.Join(c.Settings.State, captureFolder), c.Log, time.Now); err != nil {
			return nil, err
		}
		path = filepath.Join(c.Settings.State, CountsFile)
	}
	c.Metrics.Captured(func() float64 { return float64(store.Stats().Written) },
		func() float64 { return float64(store.Stats().Dropped) })
	peers, _ := service.Offered[peerCounts](c)
	l, err := OpenTracker(TrackerConfig{Path: path, Store: store, Now: c.Now, Metrics: c.Metrics, Log: c.Log,
		Peers: peers, Before: before})
	if err != nil {
		return nil, err
	}
	of := &Admin{Tracker: l, Rules: c.Rules}
	c.Offer(of)
	c.AdminRoutes = append(c.AdminRoutes, of.Routes()...)
	c.Watch = append(c.Watch, l.Watch)
	c.Routes = append(c.Routes, sidecar.Route{Pattern: "POST /feedback", Serve: l.ServeFeedback})
	c.Leave = append(c.Leave, func() {
		if err := store.Close(); err != nil { // so that the next process can record
			c.Log.Warn("the last replies were not recorded", "event", "capture_broken", "detail", err.Error())
		}
	})
	c.Background(func(ctx context.Context) { l.Run(ctx, c.Rules.Set) })
	return l.Close, nil
}
