package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/console"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/console/witness"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment/lab"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run/executor"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run/journal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// The settings of the console; "" is on.
const (
	consoleOn     = "on"
	consoleNoText = "no-text"
	consoleOff    = "off"
)

// witnessOf keeps the last requests for the console; nil: there is no console. The error says
// what is wrong with the settings of the admin listener.
func witnessOf(s config.Settings, rules *live.Rules) (*witness.Witness, error) {
	tokens := web.Tokens{Admin: s.AdminToken, Approver: s.ApproverToken, Reader: s.ReaderToken}
	if err := tokens.Check(); err != nil {
		return nil, err
	}
	switch mode := cmp.Or(s.Console, consoleOn); {
	case mode != consoleOn && mode != consoleNoText && mode != consoleOff:
		return nil, fmt.Errorf("the console is on, no-text or off, not %q", mode)
	case s.Admin == "" || mode == consoleOff:
		return nil, nil
	default:
		return witness.New(witness.Config{Words: mode == consoleOn,
			Bounds: func() ruleset.Console { return rules.Set().Limits.Console }, Now: time.Now}), nil
	}
}

// serveAdmin serves the admin API, and the console, until ctx ends, if there is an address for it.
// ended waits for that. What people go on with runs until work ends.
func (r *running) serveAdmin(ctx, work context.Context, experiments *lab.Lab,
	server *sidecar.Server) (ended func(), err error) {
	s := r.Settings
	if s.Admin == "" {
		return func() {}, nil
	}
	l, err := r.listener(Admin, &r.Settings.Admin, "admin")
	if err != nil {
		return nil, err
	}
	r.adminAt = l
	api := &admin.API{
		Lab: experiments, Rules: r.Rules, World: r.guarded.World, Guard: r.judge,
		Approvals: r.guarded.Approvals, Decisions: r.kept,
		Drafts: admin.NewDraftLimiter(), Misses: admin.NewMisses(time.Now),
		Runs:  r.resumer(work),
		Token: s.AdminToken, Approver: s.ApproverToken, Reader: s.ReaderToken, Local: isLocal(l),
		Hosts:   hosts(s, r.Settings.Admin),
		Metrics: r.Metrics, Log: r.Log, Level: r.Level, Ending: ctx.Done(),
	}
	switch {
	case s.AdminToken == "" && !api.Local:
		err := fmt.Errorf("--admin %s can be reached from other machines, and everybody who reaches it decides what runs: set %sADMIN_TOKEN, or listen on 127.0.0.1",
			s.Admin, config.Prefix)
		return nil, errors.Join(err, l.Close())
	case s.AdminToken == "":
		r.Log.Warn("everyone on this machine may change the rules: set a token", "event", "open_admin",
			"address", l.Addr().String(), "setting", config.Prefix+"ADMIN_TOKEN")
	}
	h, address := api.Handler(), "http://"+l.Addr().String()
	r.admin = address
	r.Log.Info("serving the admin API", "event", "admin_start", "address", address)
	if r.witness != nil {
		if h, err = r.console(api, h, server); err != nil {
			return nil, errors.Join(err, l.Close())
		}
		r.Log.Info("the console is at "+address+"/", "event", "console_start", "address", address+"/")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := admin.Serve(ctx, l, h, r.Log); err != nil {
			r.Log.Error("the admin API has ended", "event", "admin_failed", "detail", err.Error())
		}
	}()
	return func() { <-done }, nil
}

func (r *running) console(api *admin.API, next http.Handler, server *sidecar.Server) (http.Handler, error) {
	return console.New(console.Config{
		API: api, Next: next, Witness: r.witness, Upstreams: server.Upstreams,
		Decisions: DecisionsIn(r.Settings), Runs: r.journalOf(), Version: version(), Now: time.Now,
	})
}

// resumer lets people go on with runs; nil: none is kept.
func (r *running) resumer(work context.Context) *executor.Resumer {
	if r.journalOf() == nil {
		return nil
	}
	return &executor.Resumer{Executor: r.runs, Rules: r.Rules.Set, Watch: r.watch,
		Background: func(run func(context.Context)) { r.background.Go(func() { run(work) }) }}
}

// journalOf is where runs are kept; nil: nowhere.
func (r *running) journalOf() *journal.Journal {
	if r.runs == nil {
		return nil
	}
	return r.runs.Journal
}
