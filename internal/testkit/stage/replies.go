package stage

import (
	"cmp"
	"encoding/json"

	"github.com/jgavinray/gpt-oss-executor/internal/noise"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/eval"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// ReadMadeUp reads a made-up reply. What the policy denies was read, too.
func ReadMadeUp(set *ruleset.Set, c noise.Case) (noise.Got, error) {
	line, err := eval.Line(c)
	if err != nil {
		return noise.Got{}, err
	}
	var rec replay.Record
	if err := json.Unmarshal(line, &rec); err != nil {
		return noise.Got{}, err
	}
	rec.Finish = cmp.Or(rec.Finish, "length") // a whole message does not show that its stream broke
	e, err := replay.Explain(set, guard.World{}, "", &rec)
	if err != nil {
		return noise.Got{}, err
	}
	got := noise.Got{Content: e.Content, Reasoning: e.Reasoning, Finish: e.Finish}
	for _, r := range e.Refused {
		if r.Code == "denied" {
			got.Calls = append(got.Calls, noise.GotCall{Name: r.Name, Args: json.RawMessage(r.Text)})
		} else {
			got.Refused++
		}
	}
	for _, call := range e.Calls {
		got.Calls = append(got.Calls, noise.GotCall{Name: call.Name, Args: call.Arguments})
	}
	return got, nil
}
