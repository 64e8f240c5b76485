package cli

import "github.com/jgavinray/gpt-oss-executor/sidecar/replay"

// editRows are the lines of what edits.yaml makes of a request.
func editRows(e *replay.EditedRequest) []Row {
	var r Rows
	if len(e.Rules) == 0 {
		r.Say("edits.yaml has no rules")
	}
	for _, o := range e.Rules {
		r.Add(1, Plain, o.Rule, "%s  %s", o.ID, Clipped(o.Outcome))
	}
	r.Say("request    %s", Clipped(string(e.Request)))
	return r.List
}
