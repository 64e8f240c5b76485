package console

import (
	"context"
	_ "embed"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Part implements service.Part.
type Part struct{}

// Settings configure the console.
type Settings struct {
	Console string `rule:"console" is:"MODE" only:"serve" one:"on no-text off" doc:"The console, pages for a browser at the address of admin. on, which is the default: it shows the last requests, which are kept in memory. no-text: of these it keeps what came of them, and no word. off: there is none." eg:"on"`
}

func (Part) Name() string { return "console" }

// Settings returns the defaults.
func (Part) Settings() any { return &Settings{} }

// Rules returns the bounds of what is kept.
func (Part) Rules() []ruleset.Section { return []ruleset.Section{Section()} }

//go:embed help.txt
var help string

// Commands returns the command report.
func (Part) Commands(env cli.Env) []*cobra.Command { return cli.Describe(help, reportCommand(env)) }

// Values of the setting console that turn it off; all others turn it on.
const (
	noText = "no-text"
	off    = "off"
)

// Open counts outcomes, which a state folder keeps, and serves the last turns on pages of the admin
// listener.
func (Part) Open(_ context.Context, c *service.Core) (func() error, error) {
	counter, err := count(c)
	if err != nil {
		return nil, err
	}
	stop := func() error {
		if counter == nil {
			return nil
		}
		return counter.Flush()
	}
	mode := config.Of[Settings](&c.Settings).Console
	if c.Settings.Admin == "" || mode == off {
		return stop, nil
	}
	w := NewStore(StoreConfig{Words: mode != noText,
		Bounds: func() Bounds { return *ruleset.Of[Bounds](c.Rules.Set()) }, Now: time.Now})
	c.Watch = append(c.Watch, w.Watch)
	c.AdminPages = func(api *admin.API, next http.Handler) (http.Handler, error) {
		experiments, _ := service.Offered[*experiment.Admin](c)
		resumer, _ := service.Offered[*run.ResumeAdmin](c)
		all := Config{API: api, Next: next, Turns: w, Experiments: experiments, Resumer: resumer,
			Counter: counter, Upstreams: c.Upstreams, Decisions: service.DecisionsIn(c.Settings),
			Version: built.Version(), Now: time.Now}
		if runs, ok := service.Offered[*run.Executor](c); ok {
			all.Runs = runs.Journal
		}
		return New(all)
	}
	return stop, nil
}

// count opens the counter of outcomes; nil without a state folder.
func count(c *service.Core) (*Counter, error) {
	if c.Offline {
		return nil, nil
	}
	path := ""
	if c.Settings.State != "" {
		path = filepath.Join(c.Settings.State, tallyFile)
	}
	counter, err := newCounter(path, c.Metrics, path != "" && !c.Given.FromPrevious(), time.Now)
	if err != nil {
		return nil, err
	}
	c.Watch = append(c.Watch, counter.Watch)
	if path == "" {
		return nil, nil
	}
	c.Background(func(ctx context.Context) {
		counter.Run(ctx, func(err error) {
			c.Log.Warn("what turns came to was not kept", "event", "report_broken", "detail", err.Error())
		})
	})
	return counter, nil
}
