package sidecar

import (
	"encoding/json"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Explained is how a reply is read.
type Explained struct {
	ID        json.RawMessage `json:"id,omitempty"`
	Calls     []ExplainedCall `json:"calls"`
	Content   string          `json:"content"`
	Reasoning string          `json:"reasoning"`
	Finish    string          `json:"finish_reason"`
	Refused   []tools.Refusal `json:"-"`
	Trace     []parse.Step    `json:"trace"`
	Version   string          `json:"rules_version"`
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
func Explain(set *ruleset.Set, profile string, rec *Record) (*Explained, error) {
	s, err := rec.read(set, profile)
	if err != nil {
		return nil, err
	}
	reading := &s.reading
	out := &Explained{
		ID: rec.ID, Calls: []ExplainedCall{}, Content: reading.Content, Reasoning: reading.Reasoning,
		Finish: reading.Finish, Refused: reading.Refused, Trace: reading.Steps, Version: set.Version,
	}
	if out.Trace == nil {
		out.Trace = []parse.Step{}
	}
	for _, c := range reading.Calls {
		e := ExplainedCall{openai.NewCallID(), c.Name, c.Arguments, c.Strategy, c.Confidence, c.Repairs}
		if e.Repairs == nil {
			e.Repairs = []tools.Repair{}
		}
		out.Calls = append(out.Calls, e)
	}
	return out, nil
}

// Recording reads a reply as Explain does, and gives what a test of it must hold.
func Recording(set *ruleset.Set, profile, name string, rec *Record) (ruleset.Recording, error) {
	offered, err := rec.offered()
	if err != nil {
		return ruleset.Recording{}, err
	}
	out := ruleset.Recording{Name: name, Profile: profile, Tools: offered}
	out.Finish, err = rec.deltas(func(d parse.Delta) {
		out.Reply.Content += d.Content
		out.Reply.Reasoning += d.Reasoning
		out.Reply.Calls = append(out.Reply.Calls, d.Calls...)
	})
	if err != nil {
		return ruleset.Recording{}, err
	}
	if rec.Finish != "" {
		out.Finish = rec.Finish
	}
	catalog, err := rec.catalog(set)
	if err != nil {
		return ruleset.Recording{}, err
	}
	r := set.Strategies(profile).Reader(catalog, parse.Facts{MaxText: set.Limits.TextBytes, MaxDepth: set.Limits.Depth})
	r.Feed(out.Reply)
	out.Reading, _ = r.Close(out.Finish)
	return out, nil
}
