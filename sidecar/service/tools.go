package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run/executor"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run/gateway"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run/journal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run/toolbox"
)

// hasTools reports whether commands of runs run in this program; the error says what is wrong
// with the settings of that.
func hasTools(s config.Settings) (bool, error) {
	switch {
	case s.WorkspaceTools == "" || s.WorkspaceTools == "off":
		return false, nil
	case s.WorkspaceTools != "on":
		return false, fmt.Errorf("workspace tools are on or off, not %q", s.WorkspaceTools)
	case runtime.GOOS == "windows":
		return false, errors.New("--workspace-tools: on Windows no file can be opened exactly as it was judged; leave it out, or run this program in WSL")
	case s.Workspace == "":
		return false, errors.New("--workspace-tools needs the folder to work in: set --workspace DIR")
	}
	if _, err := os.Stat(s.Workspace + "/"); err != nil { // with a slash it must be a folder
		return false, fmt.Errorf("--workspace-tools needs the folder to work in: %w; name another with --workspace DIR", err)
	}
	return true, nil
}

// sources are where the calls of runs run.
func (r *running) sources(ctx context.Context) (out []executor.Source, err error) {
	s := r.Settings
	here, err := hasTools(s)
	if err != nil {
		return nil, err
	}
	if here {
		out = append(out, &toolbox.Toolbox{Resolver: net.DefaultResolver, Environ: r.Environ})
		r.Log.Info("runs have tools of this program", "event", "workspace_tools", "workspace", s.Workspace,
			"confined", r.guarded.Runs != nil)
	}
	if s.Gateway != "" {
		beyond, err := gateway.New(gateway.Config{URL: s.Gateway, Token: s.GatewayToken,
			Session: s.GatewaySession, Now: time.Now, Log: r.Log})
		if err != nil {
			return nil, err
		}
		out = append(out, beyond)
		r.background.Go(func() { beyond.Tools(ctx, r.Rules.Set(), policy.Subject{}) }) // says what it finds
	}
	return out, nil
}

// RunsFolder is where the journal of runs stands inside the state folder.
const RunsFolder = "runs"

// journal is where runs are kept; nil: nowhere.
func (r *running) journal(runs bool) (*journal.Journal, error) {
	switch {
	case !runs:
		return nil, nil
	case r.Settings.State == "":
		r.Log.Warn("what runs did is not kept, so that none goes on after a crash: set --state DIR",
			"event", "no_journal")
		return nil, nil
	}
	return journal.Open(journal.Config{Dir: filepath.Join(r.Settings.State, RunsFolder), Now: time.Now})
}
