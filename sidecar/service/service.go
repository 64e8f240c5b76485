// Package service starts a server and its parts as the settings say, and stops them in order. It decides
// nothing about replies, calls or rules.
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Config configures a server. All but Parts and Greet must be set.
type Config struct {
	Parts    []Part
	Settings config.Settings
	Parent   Parent // that started this program, for the setting with_parent
	Rules    *live.Rules
	Named    string   // folder of the rules, as people name it
	Environ  []string // of this program
	Metrics  *telemetry.Metrics
	Log      *slog.Logger
	Level    *slog.LevelVar // of the log
	Given    *Given         // files passed to this process; nil: none
	Next     *Next          // nil: no process can take over
	Greet    io.Writer      // gets the greeting once the model server was asked; may be nil
	Offline  bool           // nothing is served, so parts that only serve or count do not open
}

// running is a server that runs.
type running struct {
	*Core
	sharesSocket  bool         // systemd keeps the socket and starts the next server
	callers       net.Listener // for callers
	adminListener net.Listener // nil: none
	admin         string       // base URL of the admin API; "": none
	ceilings      limits
	drain         time.Duration // setting drain

	stop      context.CancelFunc
	stopAdmin context.CancelFunc
	ends      []func() error // run in reverse at the end
}

// Run serves until ctx ends or another process takes over, and then lets open requests end.
func Run(ctx context.Context, c Config) (err error) {
	r := &running{Core: &Core{Config: c}, ceilings: applyLimits(c.Log)}
	if short := r.ceilings.filesShort(c.Rules.Set().Limits.Load); short != "" {
		c.Log.Warn(short, "event", "files_short")
	}
	asked, leave := withParent(ctx, c)
	defer leave()
	if r.drain, err = drainOf(c.Settings); err != nil {
		return err
	}
	if err := adminTokens(c.Settings).Check(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.end()) }()
	up, err := r.open(ctx)
	if err != nil {
		return err
	}
	if r.callers, err = r.listener(HTTP, &r.Settings.Listen, "listen"); err != nil {
		return err
	}
	serving := false
	defer func() {
		if !serving {
			err = errors.Join(err, r.callers.Close())
		}
	}()
	s := r.Settings
	r.Local = isLocal(r.callers)
	if s.Token == "" && !r.Local {
		c.Log.Warn("everyone who reaches this address may use the model: set a token, or listen on 127.0.0.1",
			"event", "open_listener", "address", s.Listen, "setting", config.Prefix+"TOKEN")
	}
	if err := r.openParts(up); err != nil {
		return err
	}
	r.Background(c.Rules.Watch)
	r.Background(Tune)
	server := sidecar.New(sidecar.Config{Turns: r.Turns, Watch: r.Watch, Answer: r.Answer, Routes: r.Routes,
		Rules: r.Rules, Token: s.Token, Memory: r.ceilings.admission(), Metrics: r.Metrics, Log: r.Log,
		Spans: r.Spans, Replicas: r.Replicas,
		Names: web.Names{Local: r.Local, Token: s.Token != "", Hosts: hosts(s, s.Listen)}})
	if err := r.serveAdmin(); err != nil {
		return err
	}
	r.logUnanswered()
	r.announce(up, server)
	serving = true
	return r.serve(asked, server)
}

// announce logs that the server serves, and greets once it has asked the model server.
func (r *running) announce(up *upstream.Client, server *sidecar.Server) {
	r.Log.Info("serving", "event", "http_server_start", "address", "http://"+r.callers.Addr().String()+"/v1",
		"upstream", up.Address(), "rules", r.Rules.Set().Version, "folder", r.Named, "pid", os.Getpid())
	r.Background(func(ctx context.Context) {
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
			r.greet("http://"+r.callers.Addr().String()+"/v1", r.Upstreams(ctx), err)
		}
	})
}

// Do opens everything but servers, runs work with it, and closes it.
func Do(ctx context.Context, c Config, work func(context.Context, *Core) error) (err error) {
	c.Offline, c.Settings.Admin = true, "" // without the admin API, no approval is asked for
	r := &running{Core: &Core{Config: c, Local: true}}
	defer func() { err = errors.Join(err, r.end()) }()
	up, err := r.open(ctx)
	if err != nil {
		return err
	}
	if err := r.openParts(up); err != nil {
		return err
	}
	r.logUnanswered()
	stop := context.AfterFunc(ctx, r.stop)
	defer stop()
	return work(r.work, r.Core)
}

// end stops what runs, and then closes what was opened, in reverse.
func (r *running) end() (err error) {
	if r.stop != nil {
		r.stop()
	}
	r.background.Wait()
	for _, end := range slices.Backward(r.ends) {
		err = errors.Join(err, end())
	}
	return err
}

// open opens what precedes the parts.
func (r *running) open(ctx context.Context) (*upstream.Client, error) {
	s, l := r.Settings, r.Rules.Set().Limits
	up, err := upstream.New(upstream.Config{
		BaseURL: s.Upstream, Key: s.UpstreamKey, Server: s.Server, Connect: l.Connect,
		IdleConnections: l.IdleConnections, Log: r.Log,
	})
	if err != nil {
		return nil, err
	}
	r.ends = append(r.ends, func() error { up.Close(); return nil })
	if r.Decisions, err = openDecisions(s, r.Given.File(Decisions), r.Log, r.Metrics); err != nil {
		return nil, err
	}
	r.ends = append(r.ends, r.Decisions.Close)
	// what serves requests goes on until the last has ended
	r.work, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	return up, nil
}

// openParts opens the parts, the guard and the planner.
func (r *running) openParts(up *upstream.Client) error {
	s := r.Settings
	r.Now = time.Now
	r.Guard = guard.Config{World: World(s), Listening: state.Listening, Metrics: r.Metrics, Log: r.Log}
	if r.Decisions != nil {
		r.Guard.Decisions = r.Decisions
	}
	for _, p := range r.Parts {
		stop, err := p.Open(r.work, r.Core)
		if stop != nil {
			r.ends = append(r.ends, stop)
		}
		if err != nil {
			return err
		}
	}
	r.Guard.Now = r.Now
	if s.Admin != "" && s.AdminToken != "" {
		r.Guard.Approvals = guard.NewApprovals(r.Rules.Set().Limits, r.Now, r.Metrics, r.Board, grantsIn(s))
		r.Background(r.Guard.Approvals.Follow)
	}
	r.Judge = guard.New(r.Guard)
	r.Background(r.Judge.Share)
	keys, err := upstream.OtherKeys(s)
	if err != nil {
		return err
	}
	if hosts := keys.Unused(r.Rules.Set()); len(hosts) > 0 {
		r.Log.Warn("upstream_keys has keys of servers that no model of models.yaml is asked at",
			"event", "keys_unused", "hosts", strings.Join(hosts, " "))
	}
	r.Turns = turn.NewPlanner(turn.PlannerConfig{Keep: r.Rules.Set().Limits.KeepLimits, Upstream: up,
		Keys: keys, Guard: r.Judge, Elsewhere: r.Elsewhere, Metrics: r.Metrics, Log: r.Log})
	r.ends = append(r.ends, func() error { r.Turns.Fleet.Close(); return nil })
	for _, start := range r.Start {
		if err := start(); err != nil {
			return err
		}
	}
	return nil
}

// grantsIn returns the file for grants; empty: none.
func grantsIn(s config.Settings) string {
	if s.State == "" {
		return ""
	}
	return filepath.Join(s.State, "grants.json")
}

// logUnanswered logs that approvals cannot be answered here, and what to set.
func (r *running) logUnanswered() {
	if r.Guard.Approvals == nil {
		r.Log.Info("calls that wait here for a person cannot be answered: "+answerHint(r.Settings),
			"event", "no_approvals")
	}
}

// answerHint says what to set so that approvals can be answered.
func answerHint(s config.Settings) string {
	token := "set a token with " + config.Prefix + "ADMIN_TOKEN"
	if s.Admin == "" {
		return "set --admin, and " + token
	}
	return token
}

// greeting is what a person reads at start. It holds no secret.
type greeting struct {
	version   string // of the program
	chat      string // base URL of the provider
	admin     string // address of the admin API; "": none
	console   bool   // it is served
	answers   bool   // approvals can be answered
	token     bool   // callers need one
	upstreams []upstream.FleetState
	trouble   error // why no request can be served; nil: they can
	set       *ruleset.Set
	folder    string // of the rules, as people name it
	confined  bool   // commands of the gateway are
	shared    string // where replicas share their knowledge; "": this one is alone
	ceilings  limits
}

// String returns the greeting in complete lines.
func (g *greeting) String() string {
	var b strings.Builder
	line := func(name, text string) { fmt.Fprintf(&b, "  %-12s %s\n", name, text) }
	fmt.Fprintf(&b, "gpt-oss-executor %s\n", cmp.Or(g.version, "(no version)"))
	line("for agents", g.chat+either(g.token, "", "  no token is asked for"))
	shown := false
	for _, u := range g.upstreams {
		line("model server", u.Address+"  "+serverText(u))
		shown = shown || u.Why != ""
	}
	if g.trouble != nil {
		line("", "no request can be served yet"+either(shown, "", ": "+g.trouble.Error()))
	}
	var models []string
	for _, m := range g.set.Models {
		models = append(models, m.ID.Value)
	}
	line("models", strings.Join(models, ", "))
	line("rules", g.folder+"  version "+g.set.Version)
	policy := "profile " + g.set.Profile()
	if locked := g.set.LockedProfile(); locked != "" {
		policy += either(locked == "permissive", "; the locked folder only tightens it",
			"; the locked folder is "+locked+", and the stricter one holds")
	}
	line("policy", policy+either(g.answers, "", "; no person can answer what it asks about"))
	if memory := g.ceilings.memoryText(g.set.Limits.Load); memory != "" {
		line("memory", memory)
	}
	if short := g.ceilings.filesShort(g.set.Limits.Load); short != "" {
		line("files", short)
	}
	line("commands", either(g.confined, "run confined where the gateway runs them",
		"are not confined where the gateway runs them"))
	if g.shared != "" {
		line("replicas", "share "+g.shared)
	}
	switch {
	case g.console:
		line("console", g.admin+"/")
	case g.admin != "":
		line("admin API", g.admin)
	default:
		line("console", "off: set --admin 127.0.0.1:8002")
	}
	return b.String()
}

// serverText describes a model server.
func serverText(u upstream.FleetState) string {
	if u.Why != "" {
		return u.Why
	}
	if u.Window > 0 {
		return fmt.Sprintf("%s, a window of %d tokens", u.Server, u.Window)
	}
	return u.Server
}

func either(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}

// greet writes the greeting. Its failure is ignored, since the log says the same.
func (r *running) greet(chat string, upstreams []upstream.FleetState, trouble error) {
	g := &greeting{
		version: built.Version(), chat: chat, admin: r.admin, console: r.AdminPages != nil,
		answers: r.Guard.Approvals != nil, token: r.Settings.Token != "",
		upstreams: upstreams, trouble: trouble, set: r.Rules.Set(), folder: r.Named,
		confined: r.Guard.Confiner != nil, shared: r.Shared, ceilings: r.ceilings,
	}
	_, _ = r.Greet.Write([]byte(g.String()))
}
