package confine

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Pass is what one confined command may do. The zero Pass reaches only servers of its session on this
// machine.
type Pass struct {
	Secret  string
	Subject policy.Subject // who asked for the command
	Tool    string         // that runs it
	Rules   string         // version of the rules that let it through
	Any     bool           // it may use every public host
	Known   bool           // it may use the known hosts of urls.yaml, as they are when it connects
	// Named are the hosts that the command names. What rules ask about these was settled when it was
	// let through.
	Named   []urls.Pattern
	Sends   bool           // plain HTTP may have any method and a body; else only GET and HEAD without one
	Remotes []guard.Remote // repositories that its git reaches as the user
	User    gitUser
	Done    <-chan struct{} // closed when the command has ended, which ends its connections; must be set
}

// Passes knows the running commands. It is asked at each request, and told when a command ends.
type Passes interface {
	Pass(ticket string) (p Pass, found bool)
	End(ticket string)
}

// rules are the rules in force. A request uses one set.
type rules interface {
	Set() *ruleset.Set
}

// Judge decides whether a running command may connect.
type Judge interface {
	Connection(set *ruleset.Set, who policy.Subject, tool string, u urls.Use) policy.Decision
}

// decisionLog keeps decisions. After an error the connection must not be made.
type decisionLog interface {
	AddConnection(decisions.Connection) error
}

// proxyLimits bound clients without a ticket. Zero fields take the value of defaultProxyLimits. Limits
// of commands are in limits.yaml.
type proxyLimits struct {
	Header    time.Duration // time to read the header of a request
	Listening int           // connections without a ticket, or between requests
}

var defaultProxyLimits = proxyLimits{Header: 10 * time.Second, Listening: 1024}

// ProxyConfig configures a proxy. It takes no proxy from the environment: that one would look names up
// itself, and the policy could not judge the address.
type ProxyConfig struct {
	Rules     rules
	Judge     Judge
	Passes    Passes
	Decisions decisionLog // nil: there is none
	Resolver  Resolver
	Connect   Connect           // nil: dial directly
	HTTPS     http.RoundTripper // to remotes of git; nil: Go's, without a proxy
	Limits    proxyLimits
	Metrics   *telemetry.Metrics
	Log       *slog.Logger
}

// Proxy is the HTTP proxy of confined commands.
type Proxy struct {
	cfg      ProxyConfig
	listener net.Listener
}

// NewProxy returns a proxy for a listener on this machine.
func NewProxy(c ProxyConfig, l net.Listener) *Proxy {
	if c.HTTPS == nil {
		c.HTTPS = &http.Transport{DisableKeepAlives: true, DisableCompression: true,
			MaxResponseHeaderBytes: 256 << 10}
	}
	c.Limits.Header, c.Limits.Listening = cmp.Or(c.Limits.Header,
		defaultProxyLimits.Header), cmp.Or(c.Limits.Listening, defaultProxyLimits.Listening)
	return &Proxy{c, l}
}

// Serve serves until ctx ends and returns when all connections have ended. The error is nil after a
// requested stop.
func (p *Proxy) Serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	books := newAccounts(ctx, p.cfg)
	defer func() { stop(); books.wait() }()
	srv := &http.Server{
		Handler:           &ticketAuth{ProxyConfig: p.cfg, accounts: books},
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: p.cfg.Limits.Header,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnState:         limitConns(p.cfg.Limits.Listening),
		ErrorLog:          slog.NewLogLogger(p.cfg.Log.Handler(), slog.LevelDebug),
	}
	err := web.ServeUntil(ctx, srv, p.listener)
	stop()
	if err != nil {
		return fmt.Errorf("serve confined commands: %w", err)
	}
	if err := srv.Close(); err != nil {
		return fmt.Errorf("stop serving confined commands: %w", err)
	}
	return nil
}

// limitConns closes new connections above a limit. A tunnel does not count once its ticket was seen.
func limitConns(most int) func(net.Conn, http.ConnState) {
	var now atomic.Int64
	return func(c net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			if now.Add(1) > int64(most) {
				_ = c.Close() // the server finds out by itself
			}
		case http.StateClosed, http.StateHijacked:
			now.Add(-1)
		}
	}
}

// serveEgress serves the proxy until ctx ends; wait waits for open connections.
func serveEgress(ctx context.Context, l net.Listener, c ProxyConfig,
	log *decisions.Log) (ended func() error) {
	if log != nil {
		c.Decisions = log
	}
	c.Log.Info("confined commands have a proxy", "event", "egress_start", "address", l.Addr().String())
	failed := make(chan error, 1)
	go func() {
		err := NewProxy(c, l).Serve(ctx)
		if err != nil {
			c.Log.Error("confined commands have no network any more", "event", "egress_failed",
				"detail", err.Error())
		}
		failed <- err
	}()
	return func() error { return <-failed }
}
