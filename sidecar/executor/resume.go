package executor

import (
	"encoding/json"
	"fmt"

	"github.com/jgavinray/gpt-oss-executor/sidecar/journal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// inDoubt is the result of a call that was about to run when the program ended.
var inDoubt = tools.Result{Failed: true, Doubt: true, Text: "The program ended while this call ran."}

// restore takes over what a run did, by its journal. Calls of which nobody knows whether they
// took effect are not run again: their results say so.
func (r *Run) restore(req *openai.Request, p *journal.Past) error {
	doubt := map[string]bool{}
	for _, id := range p.Doubt() {
		doubt[id] = true
	}
	does := map[string]string{} // of calls that change something
	r.work = work{talk: newTalk(req, r.tools), acts: &acts{}, known: map[string]tools.Result{}}
	for _, rec := range p.Records {
		switch {
		case rec.Turn != nil:
			if err := r.settle(); err != nil {
				return err
			}
			r.acts.turns = rec.Turn.N
			r.usage.add(usage{prompt: rec.Turn.Prompt, completion: rec.Turn.Answer, context: rec.Turn.Prompt + rec.Turn.Answer})
			r.pending = saidIn(rec.Turn)
		case rec.Call != nil && rec.Call.Changes:
			does[rec.Call.ID] = rec.Call.Does
			if doubt[rec.Call.ID] {
				r.acts.add(rec.Call.Does, &inDoubt)
				r.known[rec.Call.ID] = tools.Result{Failed: true, Text: r.shown(&inDoubt)}
			}
		case rec.Result != nil:
			res := tools.Result{Text: rec.Result.Text, Failed: rec.Result.Failed, Doubt: rec.Result.Doubt}
			r.known[rec.Result.ID] = res
			if what, changes := does[rec.Result.ID]; changes {
				r.acts.add(what, &res)
			}
		}
	}
	if r.pending != nil && len(r.pending.Calls) == 0 { // its answer did not leave
		r.pending = nil
	}
	return nil
}

// settle puts a reply with its results into the talk.
func (r *Run) settle() error {
	if r.pending == nil || len(r.pending.Calls) == 0 {
		return nil
	}
	results, keys := make([]tools.Result, len(r.pending.Calls)), map[string]int{}
	for i := range r.pending.Calls {
		key := keyOf(&r.pending.Calls[i])
		if first, twice := keys[key]; twice {
			results[i] = results[first]
			continue
		}
		keys[key] = i
		res, ok := r.known[r.pending.ids[i]]
		if !ok {
			return fmt.Errorf("resume %s: call %s of turn %d has no result, and the model was asked again", r.ID, r.pending.ids[i], r.acts.turns)
		}
		results[i] = res
		r.acts.seen(key, res.Text)
	}
	r.talk.called(r.pending, results)
	r.pending, r.known = nil, map[string]tools.Result{}
	return nil
}

// saidIn is a reply as it was kept.
func saidIn(t *journal.Turn) *said {
	s := &said{}
	s.Content, s.Reasoning = t.Content, t.Reasoning
	for _, c := range t.Calls {
		s.Calls = append(s.Calls, tools.Call{Name: c.Tool, Arguments: json.RawMessage(c.Arguments), Strategy: "journal", Confidence: 1})
		s.ids = append(s.ids, c.ID)
	}
	return s
}
