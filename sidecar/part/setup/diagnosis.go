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

// Check is the result of one check. Fix is empty if nothing is wrong.
type Check struct {
	Name   string          `json:"name"`
	Status openclaw.Status `json:"status"`
	Found  string          `json:"found"`
	Fix    string          `json:"fix"`

	mend mend // how Mend mends it
}

// Statuses of a check, shared with checks of a config.
const (
	ok   = openclaw.OK
	warn = openclaw.Warn
	fail = openclaw.Fail
)

// Diagnosis holds all results, in order of the checks.
type Diagnosis struct {
	Checks []Check `json:"checks"`
}

// Fails reports whether a check failed.
func (r *Diagnosis) Fails() bool {
	for _, c := range r.Checks {
		if c.Status == fail {
			return true
		}
	}
	return false
}

func (r *Diagnosis) add(list ...Check) { r.Checks = append(r.Checks, list...) }

// Patient is a sidecar, as its settings describe it, with its surroundings.
type Patient struct {
	Settings config.Settings
	Set      *ruleset.Set // the built-in rules if others do not load
	Rules    RulesFound
	World    guard.World // of the policy, by the settings
	Config   string      // path of an openclaw.json; empty: none
	URL      string      // of the sidecar, for the gateway; empty: by the settings
	Environ  []string
	Progress io.Writer // gets a line for each slow step
}

// RulesFound is the result of loading the rules.
type RulesFound struct {
	Folder   string // builtin: the built-in rules
	Problems rulefile.Problems
	Err      error // the folder cannot be read
}

// Examine runs all checks. It asks each model server three short questions and a long one.
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

// mask masks every secret of the settings in the results, since a server may repeat it.
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
	w := workFolders{set: p.Settings.Workspace, fixed: p.Settings.Workspace != "" || p.Set.Fixed(),
		may: p.World.Roots(p.Set).Write, named: named}
	w.takes = func(dir string) bool { return p.World.WithFolder(p.Set, dir).Roots(p.Set).Workspace() == dir }
	return w.checks(os.Stat)
}

func (p *Patient) say(format string, args ...any) {
	fmt.Fprintf(p.Progress, "doctor: "+format+"\n", args...)
}
