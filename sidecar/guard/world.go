// Package guard judges calls in the world of this machine. The server, policy check, policy explain,
// explain, compare and decisions replay all use it, so that they cannot disagree. It never runs or
// fetches anything, and opens files only to hash what a person is asked about.
package guard

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// World is what surrounds every call on this machine: where the agent works, files of the guard that
// no agent may touch, and links on disk. In the zero World the guard has no files, and agents work
// where paths.yaml says.
type World struct {
	machine Machine
	named   []string     // folders named by the gateway for one request, the workspace first
	cwd     string       // where the gateway's tools work; empty: the workspace
	folders *folderCache // nil: nothing is cached
}

// Machine describes the machine at the start of the program. Own files may be relative; empty names
// are ignored.
type Machine struct {
	// Workspace is where agents work, absolute, whatever paths.yaml and the gateway say; empty: as
	// they say.
	Workspace string
	Own       []string // files and folders of the guard: rules, locked folder, state, decision log
	Servers   []string // HOST:PORT of the guard and the model server
}

// NewWorld returns the world of a machine.
func NewWorld(h Machine) World {
	own := slices.DeleteFunc(slices.Clone(h.Own), func(name string) bool { return name == "" })
	for i := range own {
		own[i] = absolute(own[i])
	}
	h.Own = own
	return World{machine: h, folders: &folderCache{}}
}

// WithServer adds a server of the guard that listens at HOST:PORT.
func (w World) WithServer(server string) World {
	w.machine.Servers = append(slices.Clip(w.machine.Servers), server)
	return w
}

// absolute returns a clean absolute path.
func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil { // fails only where there is no working folder
		return abs
	}
	return name
}

// Moment is when a call is judged, and what its session did before. Zero Rates mean that it did
// nothing.
type Moment struct {
	Now      time.Time
	Rates    policy.Rates
	Confined bool                // a command runs confined
	Opened   func(port int) bool // whether the session has opened a port here; nil: unknown
}

// Decide decides whether a call may leave.
func (w World) Decide(set *ruleset.Set, call tools.Call, who policy.Subject, m Moment) policy.Decision {
	return w.look(set, call, who, m).Decide(m.Confined)
}

// look finds out what a call can do.
func (w World) look(set *ruleset.Set, call tools.Call, who policy.Subject, m Moment) *ruleset.Case {
	return set.For(who.Client).Look(call, who, w.at(m))
}

// at returns the context of a decision. Links are followed as they are now, whenever the call was.
func (w World) at(m Moment) ruleset.At {
	at := ruleset.At{Now: m.Now, Rates: m.Rates, Opened: m.Opened, Confined: m.Confined,
		Links: workspace.Links{}, World: w.ruleWorld()}
	if w.folders != nil {
		at.Behind = w.folders.resolve
	}
	return at
}

// Roots returns the folders of an agent in this world.
func (w World) Roots(set *ruleset.Set) paths.Roots { return set.Roots(w.ruleWorld()) }

// ruleWorld returns the world as rules see it.
func (w World) ruleWorld() ruleset.World {
	return ruleset.World{Set: w.machine.Workspace, Named: w.named, Cwd: w.cwd, Own: w.machine.Own,
		Servers: w.machine.Servers}
}

// Judge returns a function that decides calls now, for a reader of replies, or nil if the policy has
// nothing to say. Each decision is passed to note, which says whether the call is refused.
func (w World) Judge(set *ruleset.Set, who policy.Subject,
	note func(*tools.Call, policy.Decision) (refuse bool)) func(*tools.Call) *tools.Refusal {
	return set.For(who.Client).Judge(who, func() ruleset.At { return w.at(Moment{Now: time.Now()}) }, note)
}
