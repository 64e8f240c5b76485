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

// Part is what a user may do without: a program is built with some, and serves with none.
type Part interface {
	// Name is the folder of the part below sidecar/part.
	Name() string
	// Settings points to a struct of the settings of the part, each with its default; nil: it has none.
	Settings() any
	// Open adds the part to a server, before anything is judged or served. Stop ends it after the last
	// request; nil: there is nothing to end.
	Open(context.Context, *Core) (stop func() error, err error)
}

// Core is a server while it is put together: what parts open with, and what they add to. The parts open in
// their order, and stop in the other one.
type Core struct {
	Config
	Local     bool           // it is reached from this machine alone
	Decisions *decisions.Log // nil: there is none

	// Parts add to these when they open.
	Guard        guard.Config
	Board        approvals.Board   // where replicas keep what waits for a person; nil: it is here
	Now          func() time.Time  // for what is counted, asked and tried
	Spans        *telemetry.Tracer // nil: no collector wants spans
	Watch        []turn.Watch
	Answer       turn.Answerer // nil: a turn answers each request
	Routes       []sidecar.Route
	AdminRoutes  []admin.Route
	AdminPages   func(*admin.API, http.Handler) (http.Handler, error) // nil: the admin API has no pages
	Elsewhere    state.PeerTexts
	Replicas     func() sidecar.Replicas
	RunsCommands bool           // runs of this server execute commands in this program
	Shared       string         // where replicas share what they know; "": this one is alone
	Start        []func() error // once calls can be judged, before the first request
	Leave        []func()       // when another process has taken over

	// What follows is there from Start on.
	Judge *guard.Guard
	Turns *turn.Planner

	offers     []any
	background sync.WaitGroup // what it writes is written whole
	work       context.Context
}

// Background runs something until the server stops.
func (c *Core) Background(run func(context.Context)) {
	c.background.Go(func() { run(c.work) })
}

// Upstreams are the model servers of the rules in force, after each was asked whether it can be
// reached. The answers are kept for a moment.
func (c *Core) Upstreams(ctx context.Context) []upstream.FleetState {
	return c.Turns.Fleet.Look(ctx, c.Rules.Set())
}

// Offer lets other parts find a value, by its type.
func (c *Core) Offer(v any) { c.offers = append(c.offers, v) }

// Offered is what a part has offered of a type.
func Offered[T any](c *Core) (v T, ok bool) {
	for _, each := range slices.Backward(c.offers) {
		if v, ok = each.(T); ok {
			return v, true
		}
	}
	return v, false
}
