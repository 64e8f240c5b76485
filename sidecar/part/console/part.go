package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/console/witness"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment/lab"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run/executor"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Part is the part console.
type Part struct{}

// Settings say whether there is a console.
type Settings struct {
	Console string `rule:"console" is:"MODE" one:"on no-text off" doc:"The console, pages for a browser at the address of admin. on, which is the default: it shows the last requests, which are kept in memory. no-text: of these it keeps what came of them, and no word. off: there is none." eg:"on"`
}

// Name is that of the part.
func (Part) Name() string { return "console" }

// Settings are those by default.
func (Part) Settings() any { return &Settings{} }

// Rules are what is kept of the last requests.
func (Part) Rules() []ruleset.Section { return []ruleset.Section{witness.Section()} }

// Commands are none.
func (Part) Commands(cli.Env) []*cobra.Command { return nil }

// The values of the setting console; "" is on.
const (
	on     = "on"
	noText = "no-text"
	off    = "off"
)

// Open shows the last requests, and what else there is, on pages of the admin listener.
func (Part) Open(_ context.Context, c *service.Core) (func() error, error) {
	mode := cmp.Or(config.Of[Settings](&c.Settings).Console, on)
	if mode != on && mode != noText && mode != off {
		return nil, fmt.Errorf("the console is on, no-text or off, not %q", mode)
	}
	if c.Settings.Admin == "" || mode == off {
		return nil, nil
	}
	w := witness.New(witness.Config{Words: mode == on,
		Bounds: func() witness.Console { return *ruleset.Of[witness.Console](c.Rules.Set()) }, Now: time.Now})
	c.Watch = append(c.Watch, w.Watch)
	c.AdminPages = func(api *admin.API, next http.Handler) (http.Handler, error) {
		experiments, _ := service.Offered[*lab.Admin](c)
		resumer, _ := service.Offered[*run.Resumer](c)
		all := Config{API: api, Next: next, Witness: w, Experiments: experiments, Resumer: resumer,
			Upstreams: c.Upstreams, Decisions: service.DecisionsIn(c.Settings), Version: built.Version(),
			Now: time.Now}
		if runs, ok := service.Offered[*executor.Executor](c); ok {
			all.Runs = runs.Journal
		}
		return New(all)
	}
	return nil, nil
}
