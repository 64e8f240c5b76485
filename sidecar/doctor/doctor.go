// Package doctor looks at all that a sidecar needs: its model servers, the gateway and its config,
// the rules, the workspace, the folders of state. What it finds are values, each with a fix by its
// exact flag or command. It changes nothing but what is ours, and only where it is told to.
package doctor

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openclaw"
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

// Report is all that was looked at, in the order in which one looks.
type Report struct {
	Checks []Check `json:"checks"`
}

// Fails reports whether something does not work.
func (r *Report) Fails() bool {
	for _, c := range r.Checks {
		if c.Status == fail {
			return true
		}
	}
	return false
}

func (r *Report) add(list ...Check) { r.Checks = append(r.Checks, list...) }

// Patient is a sidecar as its settings say it, and what stands around it.
type Patient struct {
	Settings config.Settings
	Set      *ruleset.Set // the rules, or the built-in ones where those do not load
	Rules    Rules
	Roots    func() paths.Roots // by the rules and the settings
	Config   string             // path of an openclaw.json; empty: none
	URL      string             // under which the gateway reaches the sidecar
	Environ  []string
	Progress io.Writer // a line for each thing that takes time
}

// Rules is what loading the rules said.
type Rules struct {
	Folder   string // builtin: those of the program
	Problems rulefile.Problems
	Err      error // the folder cannot be read
}

// Examine looks at everything. It asks each model server four short questions and a long one.
func (p *Patient) Examine(ctx context.Context) *Report {
	r := &Report{}
	r.add(p.rules()...)
	r.add(profile(p.Set, p.Rules.Folder))
	r.add(p.servers(ctx)...)
	r.add(p.gateway(ctx)...)
	named, list := p.config(ctx)
	r.add(list...)
	r.add(workspace(p.Settings.Workspace, p.Roots().Write, named, os.Stat)...)
	r.add(folders(p.Settings, os.Stat)...)
	return r
}

func (p *Patient) say(format string, args ...any) {
	fmt.Fprintf(p.Progress, "doctor: "+format+"\n", args...)
}
