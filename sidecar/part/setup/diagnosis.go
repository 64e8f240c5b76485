package setup

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Check is one thing that was looked at. Fix is empty where nothing is wrong.
type Check struct {
	Name   string          `json:"name"`
	Status openclaw.Status `json:"status"`
	Found  string          `json:"found"`
	Fix    string          `json:"fix"`

	mend mend // what Mend does about it
}

// The statuses of a check are those of a config's.
const (
	ok   = openclaw.OK
	warn = openclaw.Warn
	fail = openclaw.Fail
)

// Diagnosis is all that was looked at, in the order in which one looks.
type Diagnosis struct {
	Checks []Check `json:"checks"`
}

// Fails reports whether something does not work.
func (r *Diagnosis) Fails() bool {
	for _, c := range r.Checks {
		if c.Status == fail {
			return true
		}
	}
	return false
}

func (r *Diagnosis) add(list ...Check) { r.Checks = append(r.Checks, list...) }

// Patient is a sidecar as its settings say it, and what stands around it.
type Patient struct {
	Settings config.Settings
	Set      *ruleset.Set // the rules, or the built-in ones where those do not load
	Rules    RulesFound
	World    guard.World // where calls are judged, by the settings
	Config   string      // path of an openclaw.json; empty: none
	URL      string      // under which the gateway reaches the sidecar; empty: by the settings
	Environ  []string
	Progress io.Writer // a line for each thing that takes time
}

// RulesFound is what loading the rules said.
type RulesFound struct {
	Folder   string // builtin: those of the program
	Problems rulefile.Problems
	Err      error // the folder cannot be read
}

// Examine looks at everything. It asks each model server three short questions and a long one.
func (p *Patient) Examine(ctx context.Context) *Diagnosis {
	r := &Diagnosis{}
	r.add(p.rules()...)
	r.add(profile(p.Set, p.Rules.Folder))
	r.add(p.servers(ctx)...)
	r.add(p.gateway(ctx)...)
	r.add(p.shared(ctx)...)
	named, list := p.config(ctx)
	r.add(list...)
	r.add(p.workspace(named)...)
	r.add(folders(p.Settings, os.Stat)...)
	p.mask(r)
	return r
}

// mask takes every secret of the settings out of what was found: a server may repeat it.
func (p *Patient) mask(r *Diagnosis) {
	for _, f := range p.Settings.All() {
		if f.Flag() != "" {
			continue
		}
		for _, secret := range strings.Fields(*f.Text) {
			for i := range r.Checks {
				if c := &r.Checks[i]; len(secret) > 3 && !strings.Contains(secret, "://") {
					c.Found, c.Fix = strings.ReplaceAll(c.Found, secret,
						"[secret]"), strings.ReplaceAll(c.Fix, secret, "[secret]")
				}
			}
		}
	}
}

func (p *Patient) workspace(named []string) []Check {
	w := works{set: p.Settings.Workspace, fixed: p.Settings.Workspace != "" || p.Set.Fixed(),
		may: p.World.Roots(p.Set).Write, named: named}
	w.takes = func(dir string) bool { return p.World.WithFolder(p.Set, dir).Roots(p.Set).Workspace() == dir }
	return w.checks(os.Stat)
}

func (p *Patient) say(format string, args ...any) {
	fmt.Fprintf(p.Progress, "doctor: "+format+"\n", args...)
}
