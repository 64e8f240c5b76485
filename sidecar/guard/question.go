package guard

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Question asks for a decision about a call, a shell line, a path or a URL. Exactly one of Tool,
// Command, Path and URL is set.
type Question struct {
	ID        json.RawMessage `json:"id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"` // of the tool: an object, or a string that holds one
	Command   *string         `json:"command"`
	Path      *string         `json:"path"`
	Op        paths.Op        `json:"op"` // read, write or delete; empty is read
	URL       *string         `json:"url"`
	Method    string          `json:"method"`    // empty is GET
	Resolve   Answers         `json:"resolve"`   // addresses of hosts; nil: names are not looked up
	Redirects []string        `json:"redirects"` // of the URL, in order

	// Workspace is the agent's folder, as the gateway says; empty: it does not say.
	Workspace string `json:"workspace"`
	Cwd       string `json:"cwd"` // these three: empty is what paths.yaml says
	Home      string `json:"home"`
	Roots     *struct {
		Write     []string `json:"write"`
		Read      []string `json:"read"`
		ReadFiles []string `json:"read_files"`
	} `json:"roots"`
	Model       string     `json:"model"`
	Client      string     `json:"client"` // file name of the agent; empty: openclaw
	Agent       string     `json:"agent"`
	Session     string     `json:"session"`
	Channel     string     `json:"channel"`
	Run         bool       `json:"run"`         // the call is one of a run
	Interactive *bool      `json:"interactive"` // nil is true: a person can answer
	Now         *time.Time `json:"now"`         // nil: the clock
	Confined    bool       `json:"confined"`    // a command runs confined
}

// Answers are the answers of a resolver by host, in order. An answer is an address or a list of them.
type Answers map[string][]json.RawMessage

// lookup returns all addresses that a host ever gets: each must be allowed.
func (a Answers) lookup(host string) (out []netip.Addr, err error) {
	for _, answer := range a[host] {
		var texts []string
		if answer[0] == '"' {
			texts = make([]string, 1)
			err = json.Unmarshal(answer, &texts[0])
		} else {
			err = json.Unmarshal(answer, &texts)
		}
		for _, text := range texts {
			addr, wrong := netip.ParseAddr(text)
			if wrong != nil {
				return nil, fmt.Errorf("resolve: %s: %w", host, wrong)
			}
			out = append(out, addr)
		}
		if err != nil {
			return nil, fmt.Errorf("resolve: %s: %w", host, jsontext.Error(err))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("resolve: %s has no address", host)
	}
	return out, nil
}

// Ruling is the answer to a question.
type Ruling struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Effect  policy.Effect   `json:"effect"`
	Rule    string          `json:"rule,omitempty"` // empty: the profile decided
	Place   string          `json:"place,omitempty"`
	Why     string          `json:"why,omitempty"`
	Instead string          `json:"instead,omitempty"`
	// Message is for the model, if the call does not simply leave.
	Message string           `json:"message,omitempty"`
	Audits  []policy.Finding `json:"audits,omitempty"`
	Facts   RulingFacts      `json:"facts"`
}

// RulingFacts are the facts of a ruling, with the names of the programs first.
type RulingFacts struct {
	Binaries []string `json:"binaries,omitempty"`
	*policy.Facts
}

// Answer answers a question by a rule set. It counts nothing. An invalid question is an error.
func (w World) Answer(set *ruleset.Set, q *Question) (*Ruling, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	m := Moment{Now: time.Now()}
	if q.Now != nil {
		m.Now = *q.Now
	}
	client := cmp.Or(q.Client, ruleset.OpenClaw)
	if !slices.Contains(set.AgentNames(), client) {
		return nil, fmt.Errorf("client: no file of agents is named %q; %s", client,
			rulefile.DidYouMean(client, set.AgentNames()))
	}
	set = set.For(client)
	at := w.WithFolder(set, q.Workspace).at(m)
	at.Confined = q.Confined
	at.World.Cwd, at.World.Home = cmp.Or(q.Cwd, at.World.Cwd), q.Home
	if q.Resolve != nil {
		at.Lookup = q.Resolve.lookup
	}
	if q.Roots != nil {
		at.World.Write, at.World.Read, at.World.ReadFiles = q.Roots.Write, q.Roots.Read, q.Roots.ReadFiles
	}
	d := q.decide(set, at)
	r := &Ruling{ID: q.ID, Effect: d.Effect, Rule: d.Rule, Place: d.Place, Why: d.Why, Instead: d.Instead,
		Audits: d.Audits, Facts: RulingFacts{Facts: d.Facts}}
	if d.Effect == policy.Deny || d.Effect == policy.Ask {
		r.Message = d.Message()
	}
	if d.Facts != nil && d.Facts.Script != nil {
		r.Facts.Binaries = d.Facts.Script.Binaries
	}
	return r, nil
}

func (q *Question) decide(set *ruleset.Set, at ruleset.At) policy.Decision {
	who := q.subject()
	switch {
	case q.Command != nil:
		return set.CheckCommand(*q.Command, who, at)
	case q.Path != nil:
		return set.CheckPath(cmp.Or(q.Op, paths.Read), *q.Path, who, at)
	case q.URL != nil:
		return set.CheckURL(*q.URL, cmp.Or(q.Method, "GET"), q.Redirects, who, at)
	}
	return set.Decide(q.call(), who, at)
}

// call returns the call of a question.
func (q *Question) call() tools.Call {
	args := q.Arguments
	var text string
	if json.Unmarshal(args, &text) == nil {
		args = json.RawMessage(text)
	}
	return tools.Call{Name: q.Tool, Arguments: args, Strategy: "native", Confidence: 1}
}

func (q *Question) subject() policy.Subject {
	return policy.Subject{
		Model: q.Model, Client: cmp.Or(q.Client, ruleset.OpenClaw), Agent: q.Agent, Session: q.Session,
		Channel: q.Channel,
		Run:     q.Run, Interactive: q.Interactive == nil || *q.Interactive,
	}
}

// check returns what is wrong with a question.
func (q *Question) check() error {
	asked := 0
	for _, given := range []bool{q.Tool != "", q.Command != nil, q.Path != nil, q.URL != nil} {
		if given {
			asked++
		}
	}
	switch {
	case asked == 0:
		return errors.New(`there is no question: give "command", "path", "url", or "tool" with "arguments"`)
	case asked > 1:
		return errors.New(`a question has one of "command", "path", "url" and "tool"`)
	case q.Tool != "" && q.Arguments == nil:
		return errors.New(`"tool" needs "arguments", an object`)
	case q.Op != "" && q.Op != paths.Read && q.Op != paths.Write && q.Op != paths.Delete:
		return fmt.Errorf(`"op" is %q, and can be read, write or delete`, q.Op)
	}
	return q.checkFolders()
}

// checkFolders refuses relative folders: their base is unknown.
func (q *Question) checkFolders() error {
	folders := map[string][]string{"cwd": {q.Cwd}, "home": {q.Home}}
	if q.Roots != nil {
		folders["roots"] = slices.Concat(q.Roots.Write, q.Roots.Read, q.Roots.ReadFiles)
	}
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		for _, folder := range folders[name] {
			if folder != "" && !path.IsAbs(folder) {
				return fmt.Errorf(`%s: %q is not an absolute path; begin it with /`, name, folder)
			}
		}
	}
	return nil
}
