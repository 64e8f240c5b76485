package turn

import (
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// circling tells a model that goes round in circles, and stops it.
func (t *Turn) circling(seen ruleset.Repeats) {
	if !seen.Any() {
		return
	}
	t.known.Notes = callNotes{seen, t.known.Notes}
	judge := t.facts.Judge
	t.facts.Judge = func(c *tools.Call) *tools.Refusal {
		if say := seen.Stops(c.Name, string(c.Arguments)); say != "" {
			t.stopped = say
			return &tools.Refusal{Code: tools.Denied, Name: c.Name, Text: string(c.Arguments),
				Why: "It was made before, and gave the same each time."}
		}
		if judge == nil {
			return nil
		}
		return judge(c)
	}
}

// callNotes are the notes that are kept of calls, and those about circles.
type callNotes struct {
	seen ruleset.Repeats
	kept upstream.CallTexts
}

// Get gives the notes of a call.
func (n callNotes) Get(callID string) (string, bool) {
	text, ok := n.kept.Get(callID)
	if more := n.seen.Note(callID); more != "" && ok && text != "" {
		return text + "\n\n" + more, true
	} else if more != "" {
		return more, true
	}
	return text, ok
}

// stop ends a turn in which the model wanted to go on in circles.
func (t *Turn) stop(about tools.Refusal) error {
	t.p.Metrics.Notices.WithLabelValues(t.labels("loop")...).Inc()
	t.log.Warn("the model makes the same call again and again; the turn ends", "event", "loop_ended",
		"tool", about.Name, "model", t.Model.ID.Value,
		"server", t.srv.ID.Value, "agent", t.who.Agent, "session", t.who.Session, "rules", t.set.Version)
	return t.tell(t.stopped)
}
