package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// DefaultSettings returns the defaults of the core and of the parts.
func (e Env) DefaultSettings() config.Settings {
	s := config.Settings{
		Listen: "127.0.0.1:8001", Upstream: "http://127.0.0.1:8000/v1", LogLevel: "info", LogFormat: "text",
		LogOutput:     "stderr",
		DecisionsMode: string(decisions.Written),
	}
	s.Parts = e.partSettings()
	return s
}

func (e Env) partSettings() (out []any) {
	for _, p := range e.Parts {
		if of := p.Settings(); of != nil {
			out = append(out, of)
		}
	}
	return out
}

func serveCommand(env Env) *cobra.Command {
	flags := env.DefaultSettings()
	var file string
	c := &cobra.Command{
		Use:  "serve",
		Long: "\n\n" + Secrets(flags.All()),
		Args: Arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			given, environ, err := service.Receive(env.Environ)
			if err != nil {
				return err
			}
			env.Environ = environ
			defer func() { given.Fail(err) }()
			s, err := SettingsOf(c, file, env)
			if err != nil {
				return err
			}
			ctx, stop := UntilStopped(c)
			defer stop()
			return Serve(ctx, s, env, given)
		},
	}
	c.Flags().StringVar(&file, "config", "", "config `FILE` in YAML")
	SettingFlags(c, &flags, true)
	return c
}

// SettingFlags adds the flags of all settings, or without serve of those that have an effect without a
// server.
func SettingFlags(c *cobra.Command, s *config.Settings, serve bool) {
	for _, f := range s.All() {
		if f.Flag() != "" && (serve || !f.Serve) {
			c.Flags().Var(settingFlag{f}, f.Flag(), Setting(f))
			c.Flags().Lookup(f.Flag()).NoOptDefVal = f.Bare
		}
	}
}

// settingFlag is the flag of a setting.
type settingFlag struct{ config.Setting }

func (f settingFlag) String() string        { return *f.Text }
func (f settingFlag) Set(text string) error { *f.Text = text; return nil }
func (f settingFlag) Type() string          { return f.Is }

// SettingsOf merges the settings: flags over environment over file over defaults.
func SettingsOf(c *cobra.Command, file string, env Env) (config.Settings, error) {
	s := env.DefaultSettings()
	if file != "" {
		doc, err := os.ReadFile(file)
		if err != nil {
			return s, fmt.Errorf("read config: %w", err)
		}
		if problems := s.Read(file, string(doc), env.Lookup); len(problems) > 0 {
			fmt.Fprintln(env.Err, problems.Error())
			return s, ErrReported
		}
	}
	if err := s.Override(env.Environ); err != nil {
		return s, err
	}
	for _, f := range s.All() {
		if f.Flag() != "" && c.Flags().Changed(f.Flag()) {
			if err := f.Set(c.Flags().Lookup(f.Flag()).Value.String()); err != nil {
				return s, fmt.Errorf("--%s %w", f.Flag(), err)
			}
		}
	}
	byDefault := env.DefaultSettings()
	if err := s.Unused(&byDefault); err != nil {
		return s, err
	}
	for _, f := range s.All() {
		if value, ok := env.Lookup(f.Else); ok && f.Else != "" && *f.Text == "" {
			*f.Text = value
		}
	}
	err := s.ReadSecrets()
	if err == nil {
		s.Workspace, err = service.WorkspaceOf(s.Workspace)
	}
	return s, err
}

func (e Env) Lookup(name string) (string, bool) {
	for _, pair := range e.Environ {
		if n, v, ok := strings.Cut(pair, "="); ok && n == name {
			return v, true
		}
	}
	return "", false
}

// Serve runs a server until ctx ends, and then waits for open requests.
func Serve(ctx context.Context, s config.Settings, env Env, given *service.Given) error {
	defer FailPipes()()
	log, err := OpenLog(s, env.Stdout(), env.Err)
	if err != nil {
		return err
	}
	defer log.Close()
	return serveWith(ctx, s, env, log, given)
}

// serveWith is Serve with an open log.
func serveWith(ctx context.Context, s config.Settings, env Env, log *Log,
	given *service.Given) error {
	starter := service.Find() // before the rules are read, since it may end meanwhile
	metrics := telemetry.New()
	rules, err := OpenRules(s, env, log, metrics)
	if err != nil {
		return err
	}
	if given.FromPrevious() && rules.Trouble() != "" { // the process before has rules that load
		return errors.New(rules.Trouble())
	}
	var next *service.Next
	if given != nil { // not the demo
		if next, err = service.NewNext(env.Environ, env.In, env.Stdout(), env.Err); err != nil {
			return err
		}
	}
	if s.Rules == "" && env.holdsRules(".") {
		log.Warn("there are rule files here, and they are not used: to use them, set --rules .",
			"event", "rules_unused")
	}
	c := service.Config{Parts: env.Services(), Settings: s, Parent: starter, Rules: rules,
		Named:   RulesName(s.Rules),
		Environ: env.Environ, Metrics: metrics, Log: log.Logger, Level: log.Level, Given: given, Next: next}
	if c.Greet = log.Err; s.LogFormat == "json" { // programs read the log
		c.Greet = nil
	}
	return service.Run(ctx, c)
}

// Services returns the parts as services of a server.
func (e Env) Services() (out []service.Part) {
	for _, p := range e.Parts {
		out = append(out, p)
	}
	return out
}

// OpenRules compiles the rules, prints their problems, and checks the settings against them.
func OpenRules(s config.Settings, env Env, log *Log, m *telemetry.Metrics) (*live.Rules, error) {
	src, err := RuleSource(s.Rules, s.Policy, env)
	if err = errors.Join(err, service.CheckFolders(s)); err != nil {
		return nil, err
	}
	rules, err := live.Open(env.Loader(), src, s.State, log.Logger, m)
	var problems rulefile.Problems
	switch {
	case errors.As(err, &problems):
		fmt.Fprintln(log.Err, problems.Error())
		return nil, errors.New("the rules do not load; nothing was started")
	case err != nil:
		return nil, err
	case s.Server != "" && rules.Set().Server(s.Server).ID.Value != s.Server:
		return nil, fmt.Errorf("server %q is not an id of servers.yaml", s.Server)
	}
	return rules, nil
}

// Setting returns the help of a setting.
func Setting(f config.Setting) string {
	if f.One == "" {
		return f.Doc
	}
	return f.Doc + " One of: " + strings.ReplaceAll(f.One, " ", ", ") + "."
}

// Secrets returns the help of the settings without a flag.
func Secrets(all []config.Setting) string {
	var b strings.Builder
	b.WriteString(`Secrets have no flag, because every user of a machine can read command lines. Instead of a
secret there can be file:PATH, the name of a file that holds it. These are secrets:
`)
	for _, f := range all {
		if f.Flag() == "" {
			fmt.Fprintf(&b, "\n  %s (%s in the config file)\n", f.Variable(), f.Key)
			for line := range strings.Lines(terminal.Filled(f.Doc, PageWidth-6)) {
				b.WriteString("      " + line)
			}
		}
	}
	return b.String()
}
