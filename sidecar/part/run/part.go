// Package run is executor mode: the sidecar runs the tools that a model calls and keeps a journal of
// each run. The tools are its own, which read, write and search files of the workspace, run commands
// and fetch pages, and those of an OpenClaw gateway. A tool touches only what the guard has let pass
// and decides nothing. The journal has a file per run and a record per line. A call that may change
// something is on disk before it begins and after it has ended, so a run that was broken off can
// resume without repeating it.
package run

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Part is the part run.
type Part struct{}

// Settings are the settings of the part.
type Settings struct {
	WorkspaceTools string `rule:"workspace_tools" is:"MODE" one:"on off" bare:"on" doc:"on: runs, which models with mode: executor begin, may read and write files, search, run commands and fetch pages by themselves, in the workspace. off, which is the default: they may not." eg:"on"`
	Gateway        string `rule:"gateway" is:"URL" doc:"The address of an OpenClaw gateway. Runs may call its tools. If left out, they have none of it." eg:"http://127.0.0.1:18789"`
	GatewayToken   string `rule:"gateway_token" is:"token" with:"gateway" else:"OPENCLAW_GATEWAY_TOKEN" doc:"The token of the gateway. If left out, it is that of the variable OPENCLAW_GATEWAY_TOKEN. A caller that may use a model with mode: executor has the tools that gateway.yaml lists." eg:"file:/run/secrets/gateway_token"`
	GatewaySession string `rule:"gateway_session" is:"KEY" with:"gateway" doc:"The session of the gateway for calls of callers that are not agents of the gateway. Each that names a session of its own gets one beside it." eg:"gpt-oss-executor"`
}

// Name returns the name of the part.
func (Part) Name() string { return "run" }

// Settings returns the defaults.
func (Part) Settings() any { return &Settings{GatewaySession: "gpt-oss-executor"} }

// Rules returns the sections of runs.yaml and gateway.yaml.
func (Part) Rules() []ruleset.Section {
	return []ruleset.Section{RunsSection(), gatewaySection()}
}

//go:embed help.txt
var help string

// Commands returns the command runs.
func (Part) Commands(env cli.Env) []*cobra.Command { return cli.Describe(help, newRunsCommand(env)) }

// Open lets models in executor mode run tools, if the settings give them some.
func (Part) Open(_ context.Context, c *service.Core) (func() error, error) {
	s := config.Of[Settings](&c.Settings)
	here, err := hasTools(s, c.Settings.Workspace)
	if err != nil {
		return nil, err
	}
	c.RunsCommands = here
	kept := &ResumeAdmin{}
	c.Offer(kept)
	c.AdminRoutes = append(c.AdminRoutes,
		admin.Route{Method: "POST", Path: "/runs/{id}/resume", Serve: kept.serve})
	c.Start = append(c.Start, func() error { return start(c, s, here, kept) })
	return nil, nil
}

// start makes the executor.
func start(c *service.Core, s *Settings, here bool, kept *ResumeAdmin) error {
	sources, err := openSources(c, s, here)
	if err != nil || len(sources) == 0 {
		return err
	}
	j, err := openJournal(c)
	if err != nil {
		return err
	}
	runs := NewExecutor(ExecutorConfig{Turns: c.Turns, Guard: c.Judge, Sources: sources, Journal: j,
		Now: time.Now, Log: c.Log})
	c.Answer = runs.Answer
	c.Offer(runs)
	if j != nil {
		kept.Resumer = &Resumer{Executor: runs, Rules: c.Rules.Set, Background: c.Background,
			Watch: c.Watch}
	}
	return nil
}

// hasTools reports whether runs have the built-in tools. The error names the mistake in the settings.
func hasTools(s *Settings, workspace string) (bool, error) {
	switch {
	case s.WorkspaceTools != "on":
		return false, nil
	case runtime.GOOS == "windows":
		return false, errors.New("--workspace-tools: on Windows no file can be opened exactly as it was judged; leave it out, or run this program in WSL")
	case workspace == "":
		return false, errors.New("--workspace-tools needs the folder to work in: set --workspace DIR")
	}
	if _, err := os.Stat(workspace + "/"); err != nil { // with a slash it must be a folder
		return false, fmt.Errorf("--workspace-tools needs the folder to work in: %w; name another with --workspace DIR", err)
	}
	return true, nil
}

// openSources returns the sources of the settings.
func openSources(c *service.Core, s *Settings, here bool) (out []Source, err error) {
	if here {
		out = append(out, &toolbox{Resolver: net.DefaultResolver, Environ: c.Environ})
		c.Log.Info("runs have tools of this program", "event", "workspace_tools",
			"workspace", c.Settings.Workspace, "confined", c.Guard.Runs != nil)
	}
	if s.Gateway != "" {
		beyond, err := NewGateway(GatewayConfig{URL: s.Gateway, Token: s.GatewayToken,
			Session: s.GatewaySession, Now: time.Now, Log: c.Log})
		if err != nil {
			return nil, err
		}
		out = append(out, beyond)
		c.Background(func(ctx context.Context) { // it says what it finds
			beyond.Tools(ctx, c.Rules.Set(), policy.Subject{})
		})
	}
	return out, nil
}

// Folder is the folder of the journal in the state folder.
const Folder = "runs"

// openJournal opens the journal; nil if there is no state folder.
func openJournal(c *service.Core) (*Journal, error) {
	if c.Settings.State == "" {
		c.Log.Warn("what runs did is not kept, so that none goes on after a crash: set --state DIR",
			"event", "no_journal")
		return nil, nil
	}
	return OpenJournal(JournalConfig{Dir: filepath.Join(c.Settings.State, Folder), Now: time.Now})
}
