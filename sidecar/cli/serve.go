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
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/memory"
	"github.com/jgavinray/gpt-oss-executor/internal/sockets"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/egress"
	"github.com/jgavinray/gpt-oss-executor/sidecar/executor"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/tickets"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

func defaultSettings() ruleset.Settings {
	return ruleset.Settings{
		Listen: "127.0.0.1:8001", Upstream: "http://127.0.0.1:8000/v1", LogLevel: "info", LogFormat: "text",
		DecisionsMode: string(decisions.Written), GatewaySession: "gpt-oss-executor",
	}
}

func serveCommand(env Env) *cobra.Command {
	flags := defaultSettings()
	var config string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve OpenAI-compatible requests in front of a gpt-oss server",
		Long: `Serve OpenAI-compatible requests in front of a gpt-oss server.

Each setting can be in the config file, such as log_level: debug, in the environment, such
as ` + ruleset.SettingPrefix + `LOG_LEVEL=debug, or in a flag, such as --log-level debug. A flag beats
the environment, the environment beats the file, and the file beats the default.

` + secretSettings(&flags),
		Example: `  gpt-oss-executor serve --upstream http://127.0.0.1:8000/v1
  gpt-oss-executor serve --config /etc/gptoss.yaml --log-level debug`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := settings(c, config, &flags, env)
			if err != nil {
				return err
			}
			ctx, stop := untilStopped(c)
			defer stop()
			return serve(ctx, s, env)
		},
	}
	c.Flags().StringVar(&config, "config", "", "config `FILE` in YAML")
	for _, f := range flags.All() {
		if f.Flag() != "" {
			c.Flags().Var(settingFlag{f}, f.Flag(), settingText(f))
		}
	}
	return c
}

// settingFlag is the flag of a setting.
type settingFlag struct{ ruleset.Setting }

func (f settingFlag) String() string        { return *f.Text }
func (f settingFlag) Set(text string) error { *f.Text = text; return nil }
func (f settingFlag) Type() string          { return f.Is }

// settingText is what help says of a setting.
func settingText(f ruleset.Setting) string {
	if f.One == "" {
		return f.Doc
	}
	return f.Doc + " One of: " + strings.ReplaceAll(f.One, " ", ", ") + "."
}

// secretSettings is what help says of settings without a flag.
func secretSettings(s *ruleset.Settings) string {
	var b strings.Builder
	b.WriteString(`Secrets have no flag, because every user of a machine can read command lines. Instead of a
secret there can be file:PATH, the name of a file that holds it. These are secrets:
`)
	for _, f := range s.All() {
		if f.Flag() == "" {
			fmt.Fprintf(&b, "\n  %s (%s in the config file)\n", f.Variable(), f.Key)
			for line := range strings.Lines(filled(f.Doc, pageWidth-6)) {
				b.WriteString("      " + line)
			}
		}
	}
	return b.String()
}

// settings puts defaults, file, environment and flags on top of each other.
func settings(c *cobra.Command, config string, flags *ruleset.Settings, env Env) (ruleset.Settings, error) {
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
	to := s.All()
	for i, f := range flags.All() {
		if f.Flag() != "" && c.Flags().Changed(f.Flag()) {
			*to[i].Text = *f.Text
		}
	}
	if token, ok := env.lookup("OPENCLAW_GATEWAY_TOKEN"); ok && s.GatewayToken == "" {
		s.GatewayToken = token
	}
	err := readSecrets(&s)
	if err == nil {
		s.Workspace, err = workspaceOf(s.Workspace)
	}
	return s, err
}

func (e Env) lookup(name string) (string, bool) {
	for _, pair := range e.Environ {
		if n, v, ok := strings.Cut(pair, "="); ok && n == name {
			return v, true
		}
	}
	return "", false
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
	beyond, err := openGateway(s, log)
	if err != nil {
		return err
	}
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
	desk, err := openDesk(s, isLocal(listener), log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	out, err := egressListener(s, desk != nil)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	var passes *egress.Book
	if out != nil {
		world, passes = world.Beside(out.Addr().String()), egress.NewBook(out.Addr().String(), tickets.Valid, time.Now)
	}
	guarded := guard.Config{World: world, Listening: sockets.Listening, Now: time.Now, Metrics: metrics, Log: log}
	if kept != nil {
		guarded.Decisions = kept
	}
	if desk != nil {
		if passes != nil {
			desk.Network = passes
		}
		guarded.Confiner = desk
	}
	if s.Admin != "" && s.AdminToken != "" {
		guarded.Approvals = guard.NewApprovals(limits, time.Now, metrics)
	}
	judge := guard.New(guarded)
	egressEnded := serveEgress(ctx, out, egress.Config{Rules: rules, Judge: judge, Passes: passes, Resolver: net.DefaultResolver, Metrics: metrics, Log: log}, kept)
	adminEnded, err := serveAdmin(ctx, s, &admin.API{
		Rules: rules, World: world, Approvals: guarded.Approvals, Decisions: kept,
		Token: s.AdminToken, Hosts: hosts(s, s.Admin), Metrics: metrics, Log: log, Ending: ctx.Done(),
	})
	if err != nil {
		stop()
		return errors.Join(err, listener.Close(), egressEnded())
	}
	if guarded.Approvals == nil {
		log.Info("calls that wait here for a person cannot be answered: "+unanswered(s), "event", "no_approvals")
	}
	var background sync.WaitGroup // what they write is written whole
	defer func() { stop(); adminEnded(); background.Wait() }()
	background.Go(func() { rules.Watch(ctx) })
	background.Go(func() { memory.Tune(ctx) })
	log.Info("serving", "event", "http_server_start", "address", "http://"+listener.Addr().String()+"/v1",
		"upstream", up.Address(), "rules", rules.Set().Version, "folder", rulesName(s.Rules), "pid", os.Getpid())
	if s.Rules == "" && holdsRules(".") {
		log.Warn("there are rule files here, and they are not used: to use them, set --rules .", "event", "rules_unused")
	}
	var sources []executor.Source
	if beyond != nil {
		sources = append(sources, beyond)
		background.Go(func() { beyond.Tools(ctx, rules.Set(), policy.Subject{}) }) // says what it finds
	}
	server := sidecar.New(sidecar.Config{
		Sources: sources, Rules: rules, Upstream: up, Guard: judge, Token: s.Token, Metrics: metrics, Log: log,
		Names: web.Names{Local: isLocal(listener), Token: s.Token != "", Hosts: hosts(s, s.Listen)},
	})
	defer server.Close()
	background.Go(func() {
		if err := server.Ready(ctx); err != nil && ctx.Err() == nil {
			log.Warn("no request can be served yet", "event", "not_ready", "upstream", up.Address(), "detail", err.Error())
		}
	})
	err = sidecar.Run(ctx, listener, server.Handler(), limits.Grace, log)
	stop()
	return errors.Join(err, egressEnded(), kept.Close()) // the proxy logs to the end
}

// unanswered is what to set so that approvals can be answered.
func unanswered(s ruleset.Settings) string {
	token := "set a token with " + ruleset.SettingPrefix + "ADMIN_TOKEN"
	if s.Admin == "" {
		return "set --admin, and " + token
	}
	return token
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
