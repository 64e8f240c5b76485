package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/memory"
	"github.com/jgavinray/gpt-oss-executor/internal/sockets"
	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

func defaultSettings() ruleset.Settings {
	return ruleset.Settings{
		Listen: "127.0.0.1:8001", Upstream: "http://127.0.0.1:8000/v1", LogLevel: "info", LogFormat: "text",
		DecisionsMode: string(decisions.Written),
	}
}

func serveCommand(env Env) *cobra.Command {
	var flags ruleset.Settings
	var config string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve OpenAI-compatible requests in front of a gpt-oss server",
		Long: `Serve OpenAI-compatible requests in front of a gpt-oss server.

Every setting can be in the config file (key: value), in the environment as
GPTOSS_EXECUTOR_<KEY>, or in a flag. A flag beats the environment, the environment
beats the file, and the file beats the default.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := settings(c, config, flags, env)
			if err != nil {
				return err
			}
			ctx, stop := untilStopped(c)
			defer stop()
			return serve(ctx, s, env)
		},
	}
	f, d := c.Flags(), defaultSettings()
	f.StringVar(&config, "config", "", "config file (YAML)")
	f.StringVar(&flags.Listen, "listen", d.Listen, "address to serve on")
	f.StringVar(&flags.Upstream, "upstream", d.Upstream, "base URL of the gpt-oss server")
	f.StringVar(&flags.Server, "server", "", "kind of server: an id of servers.yaml (default: detected)")
	f.StringVar(&flags.Rules, "rules", "", "folder of rule files, watched for edits (default: the built-in rules)")
	f.StringVar(&flags.Policy, "policy", "", "locked folder of a security team, which can only make the rules stricter; watched, too")
	f.StringVar(&flags.Workspace, "workspace", "", "folder where agents work (default: as paths.yaml and the gateway say)")
	f.StringVar(&flags.State, "state", "", "folder that remembers good rules; if the rules do not load at start, the last good ones are used")
	f.StringVar(&flags.Decisions, "decisions", "", "folder of the decision log, or off (default: decisions in the state folder, if there is one)")
	f.StringVar(&flags.DecisionsMode, "decisions-mode", d.DecisionsMode, "what a call waits for: written (to the system), synced (to the disk) or required (synced, or the call is denied)")
	f.StringVar(&flags.Admin, "admin", "", "address of the admin API, such as 127.0.0.1:8002 (default: off)")
	f.StringVar(&flags.LogLevel, "log-level", d.LogLevel, "debug, info, warn or error")
	f.StringVar(&flags.LogFormat, "log-format", d.LogFormat, "text or json")
	return c
}

// settings puts defaults, file, environment and flags on top of each other.
func settings(c *cobra.Command, config string, flags ruleset.Settings, env Env) (ruleset.Settings, error) {
	s := defaultSettings()
	if config != "" {
		doc, err := os.ReadFile(config)
		if err != nil {
			return s, fmt.Errorf("read config: %w", err)
		}
		if problems := s.Read(config, string(doc), env.lookup); len(problems) > 0 {
			fmt.Fprintln(env.Err, problems.Error())
			return s, errSaid
		}
	}
	if err := s.Override(env.Environ); err != nil {
		return s, err
	}
	for name, v := range map[string][2]*string{
		"listen": {&s.Listen, &flags.Listen}, "upstream": {&s.Upstream, &flags.Upstream}, "server": {&s.Server, &flags.Server},
		"rules": {&s.Rules, &flags.Rules}, "policy": {&s.Policy, &flags.Policy}, "state": {&s.State, &flags.State},
		"workspace": {&s.Workspace, &flags.Workspace},
		"decisions": {&s.Decisions, &flags.Decisions}, "decisions-mode": {&s.DecisionsMode, &flags.DecisionsMode},
		"admin": {&s.Admin, &flags.Admin}, "log-level": {&s.LogLevel, &flags.LogLevel}, "log-format": {&s.LogFormat, &flags.LogFormat},
	} {
		if c.Flags().Changed(name) {
			*v[0] = *v[1]
		}
	}
	return s, readSecrets(&s)
}

func (e Env) lookup(name string) (string, bool) {
	for _, pair := range e.Environ {
		if n, v, ok := strings.Cut(pair, "="); ok && n == name {
			return v, true
		}
	}
	return "", false
}

// logger writes to w. A level or format that is none is an error.
func logger(s ruleset.Settings, env Env) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		return nil, fmt.Errorf("log level %q is not one of debug, info, warn, error", s.LogLevel)
	}
	opts := &slog.HandlerOptions{Level: level}
	switch s.LogFormat {
	case "text":
		return slog.New(slog.NewTextHandler(env.Err, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(env.Err, opts)), nil
	}
	return nil, fmt.Errorf("log format %q is neither text nor json", s.LogFormat)
}

// serve runs the server until ctx ends, and then lets open requests end.
func serve(ctx context.Context, s ruleset.Settings, env Env) error {
	log, err := logger(s, env)
	if err != nil {
		return err
	}
	metrics := telemetry.New()
	rules, err := openRules(s, env, log, metrics)
	if err != nil {
		return err
	}
	limits, world := rules.Set().Limits, worldOf(s)
	up, err := upstream.New(upstream.Config{
		BaseURL: s.Upstream, Key: s.UpstreamKey, Server: s.Server, Connect: limits.Connect,
		IdleConnections: limits.IdleConnections, Log: log,
	})
	if err != nil {
		return err
	}
	defer up.Close()
	kept, err := openDecisions(s, log, metrics)
	if err != nil {
		return err
	}
	defer kept.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	listener, err := listenAt(s.Listen, "listen")
	if err != nil {
		return err
	}
	if s.Token == "" && !isLocal(listener) {
		log.Warn("everyone who reaches this address may use the model: set a token, or listen on 127.0.0.1",
			"event", "open_listener", "address", s.Listen, "setting", ruleset.SettingPrefix+"TOKEN")
	}
	guarded := guard.Config{World: world, Listening: sockets.Listening, Now: time.Now, Metrics: metrics, Log: log}
	if kept != nil {
		guarded.Decisions = kept
	}
	if s.Admin != "" && s.AdminToken != "" {
		guarded.Approvals = guard.NewApprovals(limits, time.Now, metrics)
	} else {
		log.Info("calls that wait here for a person cannot be answered: set --admin and a token",
			"event", "no_approvals", "setting", ruleset.SettingPrefix+"ADMIN_TOKEN")
	}
	adminEnded, err := serveAdmin(ctx, s, &admin.API{
		Rules: rules, World: world, Approvals: guarded.Approvals, Decisions: kept,
		Token: s.AdminToken, Hosts: hosts(s, s.Admin), Metrics: metrics, Log: log, Ending: ctx.Done(),
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	var background sync.WaitGroup // what they write is written whole
	defer func() { stop(); adminEnded(); background.Wait() }()
	background.Go(func() { rules.Watch(ctx) })
	background.Go(func() { memory.Tune(ctx) })
	log.Info("serving", "event", "http_server_start", "address", "http://"+listener.Addr().String()+"/v1",
		"upstream", up.Address(), "rules", rules.Set().Version, "pid", os.Getpid())
	server := sidecar.New(sidecar.Config{
		Rules: rules, Upstream: up, Guard: guard.New(guarded), Token: s.Token, Metrics: metrics, Log: log,
		Names: web.Names{Local: isLocal(listener), Token: s.Token != "", Hosts: hosts(s, s.Listen)},
	})
	defer server.Close()
	background.Go(func() {
		if err := server.Ready(ctx); err != nil && ctx.Err() == nil {
			log.Warn("no request can be served yet", "event", "not_ready", "upstream", up.Address(), "detail", err.Error())
		}
	})
	return errors.Join(sidecar.Run(ctx, listener, server.Handler(), limits.Grace, log), kept.Close())
}

// openRules compiles the rules, prints what is wrong with them, and checks what the
// settings say of them.
func openRules(s ruleset.Settings, env Env, log *slog.Logger, m *telemetry.Metrics) (*live.Rules, error) {
	src, err := rulesIn(s.Rules, s.Policy, env)
	if err != nil {
		return nil, err
	}
	rules, err := live.Open(src, s.State, log, m)
	var problems rulefile.Problems
	switch {
	case errors.As(err, &problems):
		fmt.Fprintln(env.Err, problems.Error())
		return nil, errors.New("the rules do not load; nothing was started")
	case err != nil:
		return nil, err
	case s.Server != "" && rules.Set().Server(s.Server).ID.Value != s.Server:
		return nil, fmt.Errorf("server %q is not an id of servers.yaml", s.Server)
	}
	return rules, nil
}

// listenAt takes an address that a flag names.
func listenAt(address, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%w; is another server running there? Choose another address with --%s", err, flag)
	case err != nil:
		return nil, fmt.Errorf("%w; --%s takes HOST:PORT of this machine, such as 127.0.0.1:8001", err, flag)
	}
	return l, nil
}

// isLocal reports whether a listener is reached from this machine alone.
func isLocal(l net.Listener) bool {
	at, ok := l.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// hosts are the names of the setting hosts, and that of an address to listen on.
func hosts(s ruleset.Settings, address string) []string {
	names := strings.FieldsFunc(s.Hosts, func(r rune) bool { return r == ',' || r == ' ' })
	if host, _, err := net.SplitHostPort(address); err == nil {
		names = append(names, host)
	}
	return names
}
