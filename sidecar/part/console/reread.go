package console

import (
	"encoding/json"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/console/witness"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment/capture"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// thoughtOf is the reasoning of a reply as the server sent it.
func thoughtOf(r *witness.Reply) string {
	var text string
	if json.Unmarshal(r.Thought, &text) == nil {
		return text + r.Whole.Reasoning
	}
	return r.Whole.Reasoning
}

// recordOf is a reply as replay reads it, and the server's own calls.
func recordOf(t *witness.Turn, r *witness.Reply) (*replay.Record, []capture.ServerCall) {
	native := capture.SaidOf(r.Whole.Calls)
	message := map[string]any{"content": r.Whole.Content, "reasoning_content": thoughtOf(r)}
	if len(native) > 0 {
		var calls []any
		for _, c := range native {
			calls = append(calls, map[string]any{"id": c.ID, "type": "function",
				"function": map[string]string{"name": c.Name, "arguments": c.Arguments}})
		}
		message["tool_calls"] = calls
	}
	rec := &replay.Record{
		Model: t.Model, Server: r.Server, User: r.User, Workspace: r.Workspace, Finish: r.Finish,
		Intact: r.Intact, Asked: r.Asked, Formatted: r.Formatted,
		Who: policy.Subject{Model: t.Model, Client: t.Client, Agent: t.Agent, Channel: t.Channel,
			Session: t.Session, Run: t.Run != "", Interactive: true},
	}
	rec.Message, _ = json.Marshal(message) // it holds texts alone
	rec.Tools = offeredOf(r)
	return rec, native
}

// offeredOf are the tools that were offered; nil: unknown.
func offeredOf(r *witness.Reply) []json.RawMessage {
	if r.OfferedUnknown {
		return nil
	}
	out := []json.RawMessage{}
	for _, tool := range r.Offered {
		doc, _ := json.Marshal(map[string]any{"name": tool.Name, "parameters": parametersOf(tool)})
		out = append(out, doc)
	}
	return out
}

func parametersOf(t tools.Tool) json.RawMessage {
	if !json.Valid(t.Parameters) {
		return nil
	}
	return json.RawMessage(t.Parameters)
}
