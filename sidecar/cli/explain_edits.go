package cli

import "github.com/jgavinray/gpt-oss-executor/sidecar/replay"

// editRows are the lines of what edits.yaml makes of a request.
func editRows(e *replay.EditedRequest) []row {
	var r rows
	if len(e.Rules) == 0 {
		r.say("edits.yaml has no rules")
	}
	for _, o := range e.Rules {
		r.add(1, plain, o.Rule, "%s  %s", o.ID, clipped(o.Outcome))
	}
	r.say("request    %s", clipped(string(e.Request)))
	return r.list
}
