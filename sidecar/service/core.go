package service

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// Part is an optional part of the program, which can be built without it.
type Part interface {
	// Name returns the folder of the part below sidecar/part.
	Name() string
	// Settings points to a struct with the settings of the part and their defaults; nil: none.
	Settings() any
	// Open adds the part to a server before anything is judged or served. stop ends it after the last
	// request; nil: nothing to do.
	Open(context.Context, *Core) (stop func() error, err error)
}

// Core is a server under construction, which parts use and extend. They open in order and stop in reverse.
type Core struct {
	Config
	Local     bool           // reached from this machine only
	Decisions *decisions.Log // nil: no log

	// Extended by parts when they open.
	Guard        guard.Config
	Board        approvals.Board   // where replicas share approvals; nil: this server keeps them
	Now          func() time.Time  // for counters, approvals and experiments
	Spans        *telemetry.Tracer // nil: tracing is off
	Watch        []turn.Watch
	Answer       turn.Answerer // nil: a turn answers each request
	Routes       []sidecar.Route
	AdminRoutes  []admin.Route
	AdminPages   func(*admin.API, http.Handler) (http.Handler, error) // nil: none
	Elsewhere    state.PeerTexts
	Replicas     func() sidecar.Replicas
	RunsCommands bool           // runs execute commands in this program
	Shared       string         // where replicas share their knowledge; "": this one is alone
	Start        []func() error // once calls can be judged, before the first request
	Leave        []func()       // after another process has taken over

	// Set before Start.
	Judge *guard.Guard
	Turns *turn.Planner

	offers     []any
	background sync.WaitGroup // what it writes is written whole
	work       context.Context
}

// Background runs a function until the server stops.
func (c *Core) Background(run func(context.Context)) {
	c.background.Go(func() { run(c.work) })
}

// Upstreams returns the model servers of the rules in force after asking whether they can be reached.
// Answers are cached briefly.
func (c *Core) Upstreams(ctx context.Context) []upstream.FleetState {
	return c.Turns.Fleet.Look(ctx, c.Rules.Set())
}

// Offer lets other parts find a value by its type.
func (c *Core) Offer(v any) { c.offers = append(c.offers, v) }

// Offered returns what a part has offered of a type.
func Offered[T any](c *Core) (v T, ok bool) {
	for _, each := range slices.Backward(c.offers) {
		if v, ok = each.(T); ok {
			return v, true
		}
	}
	return v, false
}
