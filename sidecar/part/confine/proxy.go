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

// Pass is what one confined command may do. The zero Pass may reach nothing but servers of
// this machine that its session has started.
type Pass struct {
	Secret  string
	Subject policy.Subject // who asked for the command
	Tool    string         // that runs it
	Rules   string         // version of the rules under which it was let through
	Any     bool           // it may use every public host
	Known   bool           // it may use the known hosts of urls.yaml, as they are when it connects
	// hosts that it names itself: what rules ask about these was settled when it was let through
	Named   []urls.Pattern
	Sends   bool           // plain HTTP may have any method and a body; else only GET and HEAD, without
	Remotes []guard.Remote // repositories that git of it reaches as the user does
	User    gitUser
	Done    <-chan struct{} // closed when the command has ended, and its connections with it; must be set
}

// Passes knows the commands that run. It is asked at each request, and told of those that
// say that they have ended.
type Passes interface {
	Pass(ticket string) (p Pass, found bool)
	End(ticket string)
}

// rules are the rules in force. A request takes the set once and keeps it.
type rules interface {
	Set() *ruleset.Set
}

// Judge says whether a running command may connect, as far as the address is known.
type Judge interface {
	Connection(set *ruleset.Set, who policy.Subject, tool string, u urls.Use) policy.Decision
}

// decisionLog keeps what was decided. The error means that the connection must not be made.
type decisionLog interface {
	AddConnection(decisions.Connection) error
}

// proxyLimits bound those who have not shown a ticket yet. What is zero has the value of
// DefaultLimits. Those of commands stand in limits.yaml.
type proxyLimits struct {
	Header    time.Duration // so long the header of a request may take
	Listening int           // connections without a ticket, or between requests
}

// defaultProxyLimits are far from what commands need.
var defaultProxyLimits = proxyLimits{Header: 10 * time.Second, Listening: 1024}

// ProxyConfig is what a proxy works with. It takes no proxy from the environment: that one would look names
// up itself, and the policy could not judge the address.
type ProxyConfig struct {
	Rules     rules
	Judge     Judge
	Passes    Passes
	Decisions decisionLog // nil: there is none
	Resolver  Resolver
	Connect   Connect           // nil: as the system does
	HTTPS     http.RoundTripper // to remotes of git; nil: as Go does without a proxy
	Limits    proxyLimits
	Metrics   *telemetry.Metrics
	Log       *slog.Logger
}

// Proxy is one that listens.
type Proxy struct {
	cfg      ProxyConfig
	listener net.Listener
}

// NewProxy is the proxy of a listener on this machine.
func NewProxy(c ProxyConfig, l net.Listener) *Proxy {
	if c.HTTPS == nil {
		c.HTTPS = &http.Transport{DisableKeepAlives: true, DisableCompression: true,
			MaxResponseHeaderBytes: 256 << 10}
	}
	c.Limits.Header, c.Limits.Listening = cmp.Or(c.Limits.Header,
		defaultProxyLimits.Header), cmp.Or(c.Limits.Listening, defaultProxyLimits.Listening)
	return &Proxy{c, l}
}

// Serve serves until ctx ends, then closes what is open. When it returns, nothing of it
// runs any more. The error is nil after a stop that was asked for.
func (p *Proxy) Serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	books := newLedger(ctx, p.cfg)
	defer func() { stop(); books.wait() }()
	srv := &http.Server{
		Handler:           &ticketAuth{ProxyConfig: p.cfg, books: books},
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: p.cfg.Limits.Header,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnState:         atMost(p.cfg.Limits.Listening),
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

// atMost closes new connections while there are so many. A tunnel does not count any more
// once its ticket was seen.
func atMost(most int) func(net.Conn, http.ConnState) {
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
