package console

import (
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A call that waits for a person is not told as denied, and the note says why.
func TestRowOfWaiting(t *testing.T) {
	r := rowOf(&Turn{Done: true, Status: 200, Account: turn.Account{Faults: []turn.FaultRecord{
		{Fault: ruleset.Denied, Tool: "exec", Why: "A push is asked about."}}},
		Replies: []Reply{{Reading: parse.Reading{Refused: []tools.Refusal{
			{Code: tools.Denied, Name: "exec", Waits: true}, {Code: tools.Denied, Name: "exec"}}}}}}, time.Now())
	if r.Decisions != "1 waiting, 1 denied" || r.Note != "A push is asked about." {
		t.Errorf("%+v", r)
	}
}
