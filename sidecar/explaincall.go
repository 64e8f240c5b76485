package sidecar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// CallTree is what the policy says of one call, and why.
type CallTree struct {
	Version   string            `json:"rules_version"`
	Tool      string            `json:"tool"`
	Class     string            `json:"class"`
	Arguments json.RawMessage   `json:"arguments"`
	Decision  policy.Decision   `json:"decision"`
	Rules     []ruleset.Verdict `json:"rules"`
}

// ExplainCall asks the policy about a call as if the model server had sent it.
func ExplainCall(set *ruleset.Set, tool string, arguments map[string]any) (*CallTree, error) {
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false) // people read it
	if err := enc.Encode(arguments); err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", tool, err)
	}
	args := bytes.TrimSpace(doc.Bytes())
	call := tools.Call{Name: tool, Arguments: args, Strategy: "native", Confidence: 1}
	who, at := policy.Subject{Interactive: true}, ruleset.At{Now: time.Now(), Links: workspace.Links{}}
	if _, err := policy.CallOf(tool, "", args); err != nil {
		return nil, err
	}
	return &CallTree{
		Version: set.Version, Tool: tool, Class: string(set.Tools.Class(tool)), Arguments: args,
		Decision: set.Decide(call, who, at), Rules: set.Verdicts(call, who, at),
	}, nil
}
