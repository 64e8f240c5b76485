package replay

import (
	"encoding/json"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
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

// ExplainedCall is one call of it.
type ExplainedCall struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Strategy   string          `json:"strategy"`
	Confidence float64         `json:"confidence"`
	Repairs    []tools.Repair  `json:"repairs"`
}

// Explain reads a reply with the very code that serves.
func Explain(set *ruleset.Set, in guard.World, profile string, rec *Record) (*Explained, error) {
	s, err := rec.read(set, in, profile, true)
	if err != nil {
		return nil, err
	}
	return s.explained(set, rec), nil
}

func (s *seen) explained(set *ruleset.Set, rec *Record) *Explained {
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
