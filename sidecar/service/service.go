// Package service puts the parts of a running server together, as the settings say, and takes
// them apart in order. It decides nothing about replies, calls or rules.
package service

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/fleet"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/egress"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/tickets"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/console/witness"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment/lab"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/replicas"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run/executor"
	"github.com/jgavinray/gpt-oss-executor/sidecar/spans"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Config is what a server is made of. All but Greet must be set.
type Config struct {
	Settings config.Settings
	Parent   Parent // that started this program; for the setting with_parent
	Rules    *live.Rules
	Named    string   // the folder of the rules, as people call it
	Environ  []string // of this program
	Metrics  *telemetry.Metrics
	Log      *slog.Logger
	Level    *slog.LevelVar // of the log
	Given    *Given         // what was open when this process began; nil: nothing
	Next     *Next          // starts the process that takes over; nil: none does
	Greet    io.Writer      // gets a few lines for a person once the model server was looked at; may be nil
}

// running is a server while it is put together and runs.
type running struct {
	Config
	local    bool           // it is reached from this machine alone
	kept     *decisions.Log // nil: there is none
	turns    *turn.Planner
	runs     *executor.Executor // nil: there is no tool to run
	watch    []turn.Watch
	guarded  guard.Config
	judge    *guard.Guard
	witness  *witness.Witness // nil: no console shows the last requests
	taken    bool             // another process goes on holding the socket, and starts the next server
	at       net.Listener     // for callers
	adminAt  net.Listener     // nil: there is none
	admin    string           // base URL of the admin listener; "": there is none
	spans    *spans.Tracer    // nil: no collector wants spans
	shared   *replicas.Store  // nil: there are no other replicas
	ceilings ceilings

	lab   *lab.Lab      // nil until it is open
	drain time.Duration // as the setting has it

	stop       context.CancelFunc
	stopAdmin  context.CancelFunc
	background sync.WaitGroup // what it writes is written whole
	egress     func() error   // waits for the end of the proxy of confined commands
}

// Run serves until ctx ends, or another process takes over, and then lets open requests end.
func Run(ctx context.Context, c Config) (err error) {
	r := &running{Config: c, ceilings: look(c.Log)}
	if short := r.ceilings.short(c.Rules.Set().Limits.Load); short != "" {
		c.Log.Warn(short, "event", "files_short")
	}
	asked, leave, err := withParent(ctx, c)
	if err != nil {
		return err
	}
	defer leave()
	if r.drain, err = drainOf(c.Settings); err != nil {
		return err
	}
	if r.witness, err = witnessOf(c.Settings, c.Rules); err != nil {
		return err
	}
	up, err := r.open()
	if err != nil {
		return err
	}
	defer up.Close()
	defer func() { err = errors.Join(err, r.kept.Close()) }() // the proxy logs to the end
	defer r.sends()()                                         // after all requests
	// what serves requests goes on until the last has ended
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer r.stop()
	if r.at, err = r.listener(HTTP, &r.Settings.Listen, "listen"); err != nil {
		return err
	}
	s := r.Settings
	r.local = isLocal(r.at)
	if s.Token == "" && !r.local {
		c.Log.Warn("everyone who reaches this address may use the model: set a token, or listen on 127.0.0.1",
			"event", "open_listener", "address", s.Listen, "setting", config.Prefix+"TOKEN")
	}
	if err := r.share(ctx); err != nil {
		return errors.Join(err, r.at.Close())
	}
	defer func() { r.stop(); r.background.Wait(); err = errors.Join(err, r.unshare()) }()
	if r.lab, err = r.openLab(); err != nil {
		return errors.Join(err, r.at.Close())
	}
	defer func() { err = errors.Join(err, r.lab.Close()) }() // after all that counts and records
	if err := r.judges(ctx); err != nil {
		return errors.Join(err, r.at.Close())
	}
	adminEnded := func() {}
	defer func() { r.stop(); adminEnded(); r.background.Wait(); err = errors.Join(err, r.egress()) }()
	r.background.Go(func() { c.Rules.Watch(ctx) })
	r.background.Go(func() { Tune(ctx) })
	r.background.Go(func() { r.lab.Run(ctx, c.Rules.Set) })
	server, err := r.server(ctx, up, r.lab)
	if err != nil {
		return errors.Join(err, r.at.Close())
	}
	defer r.turns.Fleet.Close()
	var forAdmin context.Context
	forAdmin, r.stopAdmin = context.WithCancel(ctx)
	defer r.stopAdmin()
	if adminEnded, err = r.serveAdmin(forAdmin, ctx, r.lab, server); err != nil {
		adminEnded = func() {}
		return errors.Join(err, r.at.Close())
	}
	r.tellUnanswered()
	r.begins(ctx, up, server)
	return r.serve(ctx, asked, server)
}

// begins tells that the server begins, and when it has looked at the model server.
func (r *running) begins(ctx context.Context, up *upstream.Client, server *sidecar.Server) {
	r.Log.Info("serving", "event", "http_server_start", "address", "http://"+r.at.Addr().String()+"/v1",
		"upstream", up.Address(), "rules", r.Rules.Set().Version, "folder", r.Named, "pid", os.Getpid())
	r.background.Go(func() {
		err := server.Ready(ctx)
		if err != nil && ctx.Err() == nil {
			detail := err.Error()
			if o := new(upstream.Obstacle); errors.As(err, &o) {
				detail += ": " + o.Fix
			}
			r.Log.Warn("no request can be served yet", "event", "not_ready", "upstream", up.Address(),
				"detail", detail)
		}
		if ctx.Err() == nil && r.Greet != nil {
			r.greet("http://"+r.at.Addr().String()+"/v1", r.turns.Fleet.Look(ctx, r.Rules.Set()), err)
		}
	})
}

// Resume goes on with a run that was broken off, and gives its answer to a sink. No server of
// the same state folder may run meanwhile: it would go on with it by itself.
func Resume(ctx context.Context, c Config, id string, sink turn.Sink) (err error) {
	r := &running{Config: c, local: true}
	r.Settings.Admin = "" // without the admin API, no approval is asked for
	up, err := r.open()
	if err != nil {
		return err
	}
	defer up.Close()
	defer func() { err = errors.Join(err, r.kept.Close()) }()
	ctx, r.stop = context.WithCancel(ctx)
	defer r.stop()
	if err := r.judges(ctx); err != nil {
		return err
	}
	defer func() { r.stop(); r.background.Wait(); err = errors.Join(err, r.egress()) }()
	r.tellUnanswered()
	if _, err = r.server(ctx, up, nil); err != nil {
		return err
	}
	defer r.turns.Fleet.Close()
	if r.runs == nil {
		return errors.New("resume a run: there is no tool that it could call; set --workspace-tools or --gateway, as for the server that began it")
	}
	run, err := r.runs.Resume(ctx, r.Rules.Set(), id, "")
	if err != nil {
		return err
	}
	return run.Run(ctx, sink)
}

// open opens what is there before anything is judged.
func (r *running) open() (up *upstream.Client, err error) {
	s, l := r.Settings, r.Rules.Set().Limits
	up, err = upstream.New(upstream.Config{
		BaseURL: s.Upstream, Key: s.UpstreamKey, Server: s.Server, Connect: l.Connect,
		IdleConnections: l.IdleConnections, Log: r.Log,
	})
	if err != nil {
		return nil, err
	}
	if r.kept, err = openDecisions(s, r.Given.File(Decisions), r.Log, r.Metrics); err != nil {
		up.Close()
		return nil, err
	}
	return up, nil
}

// judges makes what judges calls: the guard, with what confines commands and the network of
// those.
func (r *running) judges(ctx context.Context) error {
	s, limits, world := r.Settings, r.Rules.Set().Limits, World(r.Settings)
	roots := world.Roots(r.Rules.Set())
	issuers, err := openIssuers(s, r.Rules.Set().AgentNames(), r.local,
		slices.Concat(roots.Write, r.Rules.Set().Confined(roots.Home).Write, []string{s.Workspace}), r.Log)
	if err != nil {
		return err
	}
	out, err := egressListener(s, issuers.any())
	if err != nil {
		return err
	}
	var passes *egress.Book
	if out != nil {
		world, passes = world.WithServer(out.Addr().String()), egress.NewBook(out.Addr().String(),
			tickets.Valid,
			time.Now)
	}
	r.guarded = guard.Config{World: world, Listening: state.Listening, Now: r.now, Metrics: r.Metrics,
		Log: r.Log}
	if r.kept != nil {
		r.guarded.Decisions = r.kept
	}
	issuers.equip(&r.guarded, passes)
	if r.shared != nil {
		r.guarded.PeerRates = r.shared.Rates()
		if s.AdminToken != "" { // it seals departures: others cannot forge one
			r.guarded.Departures = r.shared.Departures()
		}
	}
	if s.Admin != "" && s.AdminToken != "" {
		var board approvals.Board
		if r.shared != nil {
			board = r.shared.Board()
		}
		r.guarded.Approvals = guard.NewApprovals(limits, r.now, r.Metrics, board)
		r.background.Go(func() { r.guarded.Approvals.Follow(ctx) })
	}
	r.judge = guard.New(r.guarded)
	r.background.Go(func() { r.judge.Share(ctx) })
	r.egress = serveEgress(ctx, out, egress.Config{Rules: r.Rules, Judge: r.judge, Passes: passes,
		Resolver: net.DefaultResolver, Metrics: r.Metrics, Log: r.Log}, r.kept)
	return nil
}

// tellUnanswered logs that no person can be asked here, and what to set.
func (r *running) tellUnanswered() {
	if r.guarded.Approvals == nil {
		r.Log.Info("calls that wait here for a person cannot be answered: "+unanswered(r.Settings),
			"event", "no_approvals")
	}
}

// server puts the server together.
func (r *running) server(ctx context.Context, up *upstream.Client,
	experiments *lab.Lab) (*sidecar.Server, error) {
	s := r.Settings
	keys, err := fleet.OtherKeys(s)
	if err != nil {
		return nil, err
	}
	if hosts := keys.Unused(r.Rules.Set()); len(hosts) > 0 {
		r.Log.Warn("upstream_keys has keys of servers that no model of models.yaml is asked at",
			"event", "keys_unused", "hosts", strings.Join(hosts, " "))
	}
	sources, err := r.sources(ctx)
	if err != nil {
		return nil, err
	}
	journal, err := r.journal(len(sources) > 0)
	if err != nil {
		return nil, err
	}
	var elsewhere state.Elsewhere
	var replicas func() sidecar.Replicas
	if r.shared != nil {
		elsewhere, replicas = r.shared.Texts(), r.replicas
	}
	r.turns = turn.NewPlanner(turn.PlannerConfig{Keep: r.Rules.Set().Limits.KeepLimits, Upstream: up,
		Keys: keys, Guard: r.judge, Elsewhere: elsewhere, Metrics: r.Metrics, Log: r.Log})
	c := sidecar.Config{Turns: r.turns, Replicas: replicas, Spans: r.spans, Rules: r.Rules,
		Memory: r.ceilings.admission(), Token: s.Token, Metrics: r.Metrics, Log: r.Log,
		Names: web.Names{Local: r.local, Token: s.Token != "", Hosts: hosts(s, s.Listen)}}
	if experiments != nil {
		c.Watch = append(c.Watch, experiments.Watch)
		c.Routes = append(c.Routes, sidecar.Route{Pattern: "POST /feedback",
			Serve: experiments.ServeFeedback})
	}
	if r.witness != nil {
		c.Watch = append(c.Watch, r.witness.Watch)
	}
	if len(sources) > 0 {
		r.runs = executor.New(executor.Config{Turns: r.turns, Guard: r.judge, Sources: sources,
			Journal: journal, Now: time.Now, Log: r.Log})
		c.Answer = r.runs.Answer
	}
	r.watch = c.Watch
	return sidecar.New(c), nil
}

// unanswered is what to set so that approvals can be answered.
func unanswered(s config.Settings) string {
	token := "set a token with " + config.Prefix + "ADMIN_TOKEN"
	if s.Admin == "" {
		return "set --admin, and " + token
	}
	return token
}
