package replay

import (
	"encoding/json"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Explained is how a reply is read.
type Explained struct {
	ID         json.RawMessage   `json:"id,omitempty"`
	Calls      []ExplainedCall   `json:"calls"`
	Content    string            `json:"content"`
	Reasoning  string            `json:"reasoning"`
	Finish     string            `json:"finish_reason"`
	Refused    []tools.Refusal   `json:"-"`
	Trace      []parse.Step      `json:"trace"`
	Candidates []parse.Candidate `json:"candidates,omitempty"`
	Version    string            `json:"rules_version"`
}

// ExplainedCall is a call of it.
type ExplainedCall struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Strategy   string          `json:"strategy"`
	Confidence float64         `json:"confidence"`
	Repairs    []tools.Repair  `json:"repairs"`
}

// Explain reads a reply with the code that serves.
func Explain(set *ruleset.Set, in guard.World, profile string, rec *Record) (*Explained, error) {
	s, err := rec.read(set, in, profile, true)
	if err != nil {
		return nil, err
	}
	return s.explained(set, rec), nil
}

func (s *recordReading) explained(set *ruleset.Set, rec *Record) *Explained {
	r := &s.reading
	out := &Explained{
		ID: rec.ID, Calls: []ExplainedCall{}, Content: r.Content, Reasoning: r.Reasoning,
		Finish: r.Finish, Refused: r.Refused, Candidates: r.Candidates,
		Trace: append([]parse.Step{}, r.Steps...), Version: set.Version,
	}
	for _, c := range r.Calls {
		out.Calls = append(out.Calls, ExplainedCall{
			openai.NewCallID(), c.Name, c.Arguments, c.Strategy, c.Confidence,
			append([]tools.Repair{}, c.Repairs...),
		})
	}
	return out
}

// EditedRequest is the result of edits.yaml for a request.
type EditedRequest struct {
	Rules []prompt.EditsOutcome `json:"rules"`
	// Request is what the model reads, before the dialect of its server.
	Request json.RawMessage `json:"request"`
}

// IsRequest reports whether a document is a request rather than a reply.
func IsRequest(doc []byte) bool {
	var some struct {
		Messages []json.RawMessage `json:"messages"`
	}
	return json.Unmarshal(doc, &some) == nil && len(some.Messages) > 0
}

// ExplainRequest returns what each rule of edits.yaml does to a request.
func ExplainRequest(set *ruleset.Set, doc []byte) (*EditedRequest, error) {
	req, err := openai.ParseRequest(doc)
	if err != nil {
		return nil, err
	}
	run, defaults := req.Runtime, map[string]any(nil)
	if m, ok := set.Model(req.Model); ok {
		defaults = m.Sampling
	}
	list, out, err := set.Edits.Explain(req, policy.Subject{Model: req.Model, Agent: run.Agent,
		Session: run.Session, Channel: run.Channel, Interactive: true}, defaults)
	if err != nil {
		return nil, err
	}
	return &EditedRequest{list, out.Body}, nil
}
