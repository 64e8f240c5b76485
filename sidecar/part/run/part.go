// Package run is executor mode: the sidecar runs the tools that a model calls, its own and those of an
// OpenClaw gateway, and keeps what each run did. Its own read and write files of the workspace, search it,
// run commands and fetch pages; each touches what the guard has let pass, and decides nothing. The journal is
// a file a run, a line a record. What may have changed something is on the disk before it begins and after it
// has ended, so that a run that was broken off can go on and does nothing twice.
package run

import (
	"context"
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

// Settings are those of runs.
type Settings struct {
	WorkspaceTools string `rule:"workspace_tools" is:"MODE" one:"on off" bare:"on" doc:"on: runs, which models with mode: executor begin, may read and write files, search, run commands and fetch pages by themselves, in the workspace. off, which is the default: they may not." eg:"on"`
	Gateway        string `rule:"gateway" is:"URL" doc:"The address of an OpenClaw gateway. Runs may call its tools. If left out, they have none of it." eg:"http://127.0.0.1:18789"`
	GatewayToken   string `rule:"gateway_token" is:"token" with:"gateway" else:"OPENCLAW_GATEWAY_TOKEN" doc:"The token of the gateway. If left out, it is that of the variable OPENCLAW_GATEWAY_TOKEN. Whoever may use a model with mode: executor has the tools that gateway.yaml lists." eg:"file:/run/secrets/gateway_token"`
	GatewaySession string `rule:"gateway_session" is:"KEY" with:"gateway" doc:"The session of the gateway for calls of callers that are not agents of the gateway. Each that names a session of its own gets one beside it." eg:"gpt-oss-executor"`
}

// Name is that of the part.
func (Part) Name() string { return "run" }

// Settings are those by default.
func (Part) Settings() any { return &Settings{GatewaySession: "gpt-oss-executor"} }

// Rules are those of runs, and the tools of the gateway.
func (Part) Rules() []ruleset.Section {
	return []ruleset.Section{RunsSection(), gatewaySection()}
}

// Commands are those of runs.
func (Part) Commands(env cli.Env) []*cobra.Command { return []*cobra.Command{runsCommand(env)} }

// Open lets models with a mode run tools, if the settings give them some.
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

// start makes what answers requests for runs.
func start(c *service.Core, s *Settings, here bool, kept *ResumeAdmin) error {
	sources, err := sources(c, s, here)
	if err != nil || len(sources) == 0 {
		return err
	}
	j, err := journalIn(c)
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

// hasTools reports whether commands of runs run in this program; the error says what is wrong
// with the settings of that.
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

// sources are where the calls of runs run.
func sources(c *service.Core, s *Settings, here bool) (out []Source, err error) {
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

// Folder is where the journal of runs stands inside the state folder.
const Folder = "runs"

// journalIn is where runs are kept; nil: nowhere.
func journalIn(c *service.Core) (*Journal, error) {
	if c.Settings.State == "" {
		c.Log.Warn("what runs did is not kept, so that none goes on after a crash: set --state DIR",
			"event", "no_journal")
		return nil, nil
	}
	return OpenJournal(JournalConfig{Dir: filepath.Join(c.Settings.State, Folder), Now: time.Now})
}
