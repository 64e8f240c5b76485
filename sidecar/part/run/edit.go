package run

import (
	"encoding/json"

	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// edit makes of a result what edits.yaml says. What the guard says of a call it refused is no
// result.
func (r *Run) edit(call *tools.Call, res *tools.Result) {
	var args map[string]any
	if json.Unmarshal(call.Arguments, &args) != nil {
		args = nil // what is no object has no members
	}
	text, done := r.set.Edits.Result(prompt.ResultFacts{Tool: call.Name, Args: args, Text: res.Text,
		Failed: res.Failed, Subject: r.who})
	res.Text = text
	r.acts.edited(r.Turns.Edited(r.set, r.Model.ID.Value, done))
}
