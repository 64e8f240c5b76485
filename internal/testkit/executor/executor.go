// Package executor starts sidecars that run tools themselves, for tests.
package executor

import (
	"net/http"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Server is a sidecar with executor mode.
type Server struct {
	*provider.Server
	Executor *run.Executor
}

// Sections returns the sections of rules that it uses.
func Sections() []ruleset.Section { return append(provider.Sections(), run.RunsSection()) }

// With adds executor mode with this source of tools to a provider.
func With(source run.Source) func(*provider.Server, *sidecar.Config) {
	return func(r *provider.Server, c *sidecar.Config) { (&Server{Server: r}).extend(c, source, nil) }
}

func (s *Server) extend(c *sidecar.Config, source run.Source, j *run.Journal) {
	s.Executor = run.NewExecutor(run.ExecutorConfig{Turns: c.Turns, Guard: s.Guard,
		Sources: []run.Source{source}, Journal: j, Now: time.Now, Log: c.Log})
	c.Answer = s.Executor.Answer
}

// Start starts a sidecar with this source of tools in front of a model server. Without a journal, runs are
// not resumed.
func Start(t testing.TB, cfg provider.Setup, source run.Source, j *run.Journal, model http.Handler) *Server {
	t.Helper()
	if cfg.Set == nil {
		cfg.Set = ruletest.Shipped(t, Sections()...)
	}
	s := &Server{}
	cfg.Extend = func(r *provider.Server, c *sidecar.Config) {
		s.Server = r
		s.extend(c, source, j)
	}
	provider.Start(t, cfg, model)
	return s
}

// Play starts one whose model server has these replies. edit may change the rules of runs.
func Play(t *testing.T, source run.Source, edit func(*run.Runs), replies ...script.Reply) *Server {
	t.Helper()
	return Serve(t, source, edit, script.New(script.Scenario{Steps: replies}))
}

// Serve starts one in front of this model server.
func Serve(t *testing.T, source run.Source, edit func(*run.Runs), model http.Handler) *Server {
	t.Helper()
	set := ruletest.Shipped(t, Sections()...)
	if edit != nil {
		edit(ruleset.Of[run.Runs](set))
	}
	return Start(t, provider.Setup{Set: set}, source, nil, model)
}
