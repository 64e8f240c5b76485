// Package ruleset turns the YAML files that operators edit into one compiled,
// immutable Set, or into a list of problems with exact places: which files there are,
// what each may say, and the examples and tests that must hold. It never reads YAML or
// expr itself, never serves a request, and never puts a set in force: who calls Load
// decides that.
package ruleset

import (
	"maps"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/connection"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// DefaultProfile is the profile of a model that names none.
const DefaultProfile = "default"

// Set is everything one version of the rule files says. It never changes after
// Load, so a request keeps the set it began with. Safe for concurrent use.
type Set struct {
	Version    string // first 12 hex digits of the sha256 over all files
	Tools      *tools.Rules
	Limits     Limits
	Servers    []Server   // in the order in which detection tries them; the last one fits every server
	Upstreams  []Upstream // that models may name; that of the settings first
	Models     []Model    // the default first, the others in the order of the file
	Families   []*Family  // of models, in the order of their names
	Recovery   Recovery
	Results    Results
	Edits      prompt.Edits
	Loop       *Guard
	References References                // of arguments to earlier results
	Programs   *program.Table            // what is known of programs
	Connect    connection.Agents         // how agents are connected
	Prompts    map[string]*prompt.Prompt // by file name without extension
	Taken      []rulefile.Taken          // what the files take away from those that they include
	Sessions   []string                  // headers that name a session, as net/http writes them
	Asking     state.Evidence            // by what results show whether a person was asked
	Agent      *Agent                    // whose requests the set is for; nil: those of any
	Counts     Counts
	Sections   []any    // of the parts, as Of finds them: pointers
	Arms       []string // EXPERIMENT/ARM each, if this is the set of a variant

	profiles   map[string]*parse.Strategies
	styles     map[string]*Style
	arms       map[string]*Set // by their names with blanks between
	agents     []*Agent
	of         map[string]*Set // by the name of their agent
	base       *Set            // of which those are; of a copy that differs, another one
	choices    []chooser
	topic      []string // what a user says who writes about calls
	data       []string // what is said where the answer is an object
	book       rulebook
	own        *author                  // what the operator says about calls
	locked     *author                  // what the locked folder says; nil: nothing
	oneWorld   bool                     // a call does the same to both
	floors     *tools.Rules             // the class of a tool that the locked policy takes for the least
	conditions map[string]rulefile.Text // of the strategies, by id
	barred     map[string]string        // strategies that the locked folder keeps off → its place
}

// Counts is how much was loaded, for a line in a log.
type Counts struct {
	Files      int `json:"files"`
	Conditions int `json:"conditions"`
	Patterns   int `json:"patterns"`
	Examples   int `json:"examples"`
	Tests      int `json:"tests"`
}

// Strategies gives the strategies of a profile, those of DefaultProfile where
// no profile has that name.
func (s *Set) Strategies(profile string) *parse.Strategies {
	if p, ok := s.profiles[profile]; ok {
		return p
	}
	return s.profiles[DefaultProfile]
}

// Facts is what a reading of a reply may know of its request, and how much it may hold. It has no judge yet.
func (s *Set) Facts(model, server, user string) parse.Facts {
	return parse.Facts{Model: model, Server: server, User: user, Topic: s.topic, Data: s.data,
		MaxText: int(s.Limits.TextBytes), MaxDepth: s.Limits.Depth}
}

// WhyNot takes the condition of a strategy apart and evaluates every term for what
// the condition saw. It is not ok where the strategy has no condition.
func (s *Set) WhyNot(strategy string, saw parse.Env) (cond.Term, bool) {
	t, ok := s.conditions[strategy]
	if !ok {
		return cond.Term{}, false
	}
	return cond.WhyNot(t, saw, nil), true
}

// Profiles are the names of the profiles, sorted.
func (s *Set) Profiles() []string { return slices.Sorted(maps.Keys(s.profiles)) }

// Barred says where the locked folder keeps a strategy off; empty: it does not.
func (s *Set) Barred(strategy string) (place string) { return s.barred[strategy] }

// Model finds the model that callers know as id.
func (s *Set) Model(id string) (Model, bool) {
	for i := range s.Models {
		if s.Models[i].ID.Value == id {
			return s.Models[i], true
		}
	}
	return Model{}, false
}

// Server finds a dialect by its id, or gives the last one, which fits every
// server. The pointer stays valid as long as the set.
func (s *Set) Server(id string) *Server {
	for i := range s.Servers {
		if s.Servers[i].ID.Value == id {
			return &s.Servers[i]
		}
	}
	return &s.Servers[len(s.Servers)-1]
}
