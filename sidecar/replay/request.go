package replay

import (
	"encoding/json"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// EditedRequest is what edits.yaml makes of a request.
type EditedRequest struct {
	Rules []prompt.EditsOutcome `json:"rules"`
	// as the model reads it, before it is put into the dialect of its server
	Request json.RawMessage `json:"request"`
}

// IsRequest reports whether a document is a request, and no reply.
func IsRequest(doc []byte) bool {
	var some struct {
		Messages []json.RawMessage `json:"messages"`
	}
	return json.Unmarshal(doc, &some) == nil && len(some.Messages) > 0
}

// ExplainRequest says what each rule of edits.yaml does to a request.
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
