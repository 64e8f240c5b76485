// Package ruleset compiles the YAML files that operators edit into one immutable Set, or returns problems
// with exact places: which files there are, what each may contain, and the examples and tests that must pass.
// It does not read YAML or expr itself, serve requests, or put a set in force: the caller of Load does.
package ruleset

import (
	"maps"
	"slices"
	"strings"

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

// Set is one version of the rule files. It never changes after Load, so a request keeps the set with which it
// began. It is safe for concurrent use.
type Set struct {
	Version    string // first 12 hex digits of the sha256 over all files
	Tools      *tools.Rules
	Limits     Limits
	Servers    []Server   // in the order of detection; the last one matches every server
	Upstreams  []Upstream // that of the settings first
	Models     []Model    // the default first, then in the order of the file
	Families   []*Family  // by name
	Recovery   Recovery
	Results    Results
	Edits      prompt.Edits
	Loop       *LoopGuard
	References References // of arguments to earlier results
	Programs   *program.Table
	Connect    connection.Agents         // how to connect agents
	Prompts    map[string]*prompt.Prompt // by file name without extension
	Taken      []rulefile.Taken          // what files remove from those that they include
	Sessions   []string                  // headers that name a session, in canonical form
	Asking     state.Evidence            // how results show whether a person was asked
	Agent      *Agent                    // whose requests the set is for; nil: any
	Counts     Counts
	Sections   []any    // of the parts, as pointers; see Of
	Arms       []string // EXPERIMENT/ARM each, for the set of a variant

	profiles   map[string]*parse.Strategies
	styles     map[string]*Style
	arms       map[string]*Set // by their names, joined by blanks
	agents     []*Agent
	of         map[string]*Set // by agent
	base       *Set            // of the sets in of; a modified copy has another
	choices    []chooser
	topic      []string // words of a user who writes about calls
	data       []string // words of a request for an object
	book       rulebook
	own        *author                  // the operator's rules about calls
	locked     *author                  // the locked folder's; nil: none
	sameWorld  bool                     // a call has the same facts for both
	floors     *tools.Rules             // least classes of tools for the locked policy
	conditions map[string]rulefile.Text // of strategies, by id
	barred     map[string]string        // strategies that the locked folder keeps off → its place
}

// Counts is how much was loaded, for the log.
type Counts struct {
	Files      int `json:"files"`
	Conditions int `json:"conditions"`
	Patterns   int `json:"patterns"`
	Examples   int `json:"examples"`
	Tests      int `json:"tests"`
}

// Strategies returns the strategies of a profile, or of DefaultProfile if there is none of that name.
func (s *Set) Strategies(profile string) *parse.Strategies {
	if p, ok := s.profiles[profile]; ok {
		return p
	}
	return s.profiles[DefaultProfile]
}

// Facts returns what a reading of a reply knows of its request, and its limits. It has no judge yet.
func (s *Set) Facts(model, server, user string) parse.Facts {
	return parse.Facts{Model: model, Server: server, User: user, Topic: s.topic, Data: s.data,
		MaxText: int(s.Limits.TextBytes), MaxDepth: s.Limits.Depth}
}

// WhyNot evaluates each term of the condition of a strategy for what the condition saw. ok is false without a
// condition.
func (s *Set) WhyNot(strategy string, saw parse.Env) (cond.Term, bool) {
	t, ok := s.conditions[strategy]
	if !ok {
		return cond.Term{}, false
	}
	return cond.WhyNot(t, saw, nil), true
}

// Profiles returns the names of the profiles, sorted.
func (s *Set) Profiles() []string { return slices.Sorted(maps.Keys(s.profiles)) }

// Barred returns where the locked folder keeps a strategy off; empty: it does not.
func (s *Set) Barred(strategy string) (place string) { return s.barred[strategy] }

// Model finds a model by the id that callers use.
func (s *Set) Model(id string) (Model, bool) {
	for i := range s.Models {
		if s.Models[i].ID.Value == id {
			return s.Models[i], true
		}
	}
	return Model{}, false
}

// Server finds a dialect by its id, or returns the last one, which matches every server. The pointer is valid
// as long as the set.
func (s *Set) Server(id string) *Server {
	for i := range s.Servers {
		if s.Servers[i].ID.Value == id {
			return &s.Servers[i]
		}
	}
	return &s.Servers[len(s.Servers)-1]
}

// Rule is one entry of a rule file, as counters and coverage name it. The names of a tool, or of one of its
// arguments, are one rule per line.
type Rule struct {
	Place string `json:"place"` // file:line
	File  string `json:"file"`
	ID    string `json:"id"` // "markers" of strategies.yaml, "tools.exec" of aliases.yaml
}

// rulebook lists the rules that readings can hit.
type rulebook struct {
	rules []Rule         // in the order of the files
	at    map[string]int // place → index
}

// add adds a rule; the first one of a line names it.
func (b *rulebook) add(at rulefile.Place, id string) {
	if at.Known() {
		b.put(Rule{at.String(), at.File(), id})
	}
}

// put is add for a rule that has its place.
func (b *rulebook) put(r Rule) {
	if b.at == nil {
		b.at = map[string]int{}
	}
	if _, known := b.at[r.Place]; !known && r.Place != "" {
		b.at[r.Place] = len(b.rules)
		b.rules = append(b.rules, r)
	}
}

// Rules returns all rules that readings can hit.
func (s *Set) Rules() []Rule { return s.book.rules }

// Hit calls each once for every rule that took part in a reading, in order. A candidate that a strategy
// released is no hit.
func (s *Set) Hit(r *parse.Reading, each func(Rule)) {
	if len(r.Steps) == 0 && len(r.Calls) == 0 {
		return // most replies are text and nothing else
	}
	seen := make(map[string]bool, 4)
	hit := func(place string) {
		if i, known := s.book.at[place]; known && !seen[place] {
			seen[place] = true
			each(s.book.rules[i])
		}
	}
	for i := range r.Steps {
		if r.Steps[i].Outcome != parse.Released {
			hit(r.Steps[i].Rule)
		}
	}
	for i := range r.Calls {
		s.hitRepairs(r.Calls[i].Repairs, hit)
	}
}

func (s *Set) hitRepairs(repairs []tools.Repair, hit func(place string)) {
	for _, fix := range repairs {
		if strings.IndexByte(fix.Rule, ':') > 0 {
			hit(fix.Rule)
		}
	}
}
