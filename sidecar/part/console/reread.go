package console

import (
	"encoding/json"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// recordOf returns a reply as a record for replay, and the calls in the server's own format.
func recordOf(t *Turn, r *Reply) (*replay.Record, []experiment.ServerCall) {
	native := experiment.SaidOf(r.Whole.Calls)
	message := map[string]any{"content": r.Whole.Content,
		"reasoning_content": turn.ReasoningOf(&r.Whole, r.Thought)}
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

// offeredOf returns the offered tools; nil: unknown.
func offeredOf(r *Reply) []json.RawMessage {
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
