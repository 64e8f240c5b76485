// Package guard builds the world in which a call is judged, and judges it. It is the
// one place that does so: the server, policy check, policy explain, explain, compare and
// decisions replay all ask it, so that they cannot disagree. It never runs or fetches
// anything, and opens no file but to sum up what a person is asked about.
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

// World is what surrounds every call on this machine: where the agent works, what belongs to
// the guard itself, which no agent may touch, and the links on its disk. The zero World has
// nothing of its own, and its agents work where paths.yaml says.
type World struct {
	here    Here
	named   []string // by the gateway, for one request: the workspace, and others
	cwd     string   // where the gateway's tools work; empty: in the workspace
	folders *folders // nil: nothing is kept
}

// Here is what the start of a program says of its machine. Names of own files may be relative;
// empty ones are none.
type Here struct {
	// absolute: where agents work, whatever paths.yaml and the gateway say; empty: as they say
	Workspace string
	Own       []string // files and folders of the guard: rules, the locked folder, state, the decision log
	Servers   []string // HOST:PORT of the guard and of the model server
}

// NewWorld is the world around a machine.
func NewWorld(h Here) World {
	own := slices.DeleteFunc(slices.Clone(h.Own), func(name string) bool { return name == "" })
	for i := range own {
		own[i] = absolute(own[i])
	}
	h.Own = own
	return World{here: h, folders: &folders{}}
}

// WithServer is the world with one more server of the guard, which has begun to listen at HOST:PORT.
func (w World) WithServer(server string) World {
	w.here.Servers = append(slices.Clip(w.here.Servers), server)
	return w
}

// absolute is a path from the root, clean.
func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil { // fails only where there is no working folder
		return abs
	}
	return name
}

// Moment is when a call is judged, and what its session did before. The zero Rates are
// of a session that did nothing.
type Moment struct {
	Now      time.Time
	Rates    policy.Rates
	Confined bool                // the machine confines the call, if it is a command
	Opened   func(port int) bool // whether one of its commands has opened a port here; nil: unknown
}

// Decide says whether a call may leave.
func (w World) Decide(set *ruleset.Set, call tools.Call, who policy.Subject, m Moment) policy.Decision {
	return w.look(set, call, who, m).Decide(m.Confined)
}

// look finds out what a call can do here.
func (w World) look(set *ruleset.Set, call tools.Call, who policy.Subject, m Moment) *ruleset.Case {
	return set.For(who.Client).Look(call, who, w.at(m))
}

// at is where a decision looks. Links are followed as they are now, whenever the call was.
func (w World) at(m Moment) ruleset.At {
	at := ruleset.At{Now: m.Now, Rates: m.Rates, Opened: m.Opened, Confined: m.Confined,
		Links: workspace.Links{}, World: w.around()}
	if w.folders != nil {
		at.Behind = w.folders.behind
	}
	return at
}

// Roots are the folders of an agent in this world.
func (w World) Roots(set *ruleset.Set) paths.Roots { return set.Roots(w.around()) }

// around is the world as rules see it.
func (w World) around() ruleset.World {
	return ruleset.World{Set: w.here.Workspace, Named: w.named, Cwd: w.cwd, Own: w.here.Own,
		Servers: w.here.Servers}
}

// Judge is Decide as a reader of replies asks it, now. Each decision is told to note,
// which says whether the call is refused. Nil where the policy has nothing to say.
func (w World) Judge(set *ruleset.Set, who policy.Subject,
	note func(*tools.Call, policy.Decision) (refuse bool)) func(*tools.Call) *tools.Refusal {
	return set.For(who.Client).Judge(who, func() ruleset.At { return w.at(Moment{Now: time.Now()}) }, note)
}
