package run

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// inDoubt is the result of a call that was about to run when the program ended.
var inDoubt = tools.Result{Failed: true, Doubt: true, Text: "The program ended while this call ran."}

// notRun is the result of a call that had not begun when the run was broken off.
var notRun = tools.Result{Failed: true, Text: "Error: this call was not run, because the run is over."}

// notKept is the result of a call that cannot run any more as it was written.
var notKept = tools.Result{Failed: true,
	Text: "Error: this call was not run. The program ended before it, and a secret in its arguments was not kept. Send it again with the secret itself, or tell the user."}

// restore takes over what a run did, by its journal. A call that may have taken effect is not run again:
// its result says so.
func (r *Run) restore(req *openai.Request, p *Past) {
	doubt := map[string]bool{}
	for _, id := range p.Doubt() {
		doubt[id] = true
	}
	does := map[string]string{} // of calls that change something
	r.work = work{talk: newTalk(req, r.tools), acts: &acts{}}
	for _, rec := range p.Records {
		switch {
		case rec.Turn != nil:
			r.settle()
			r.fit()
			if rec.Turn.Squeezed {
				r.squeeze()
			}
			r.acts.turns = rec.Turn.N
			r.usage.add(usage{prompt: rec.Turn.Prompt, completion: rec.Turn.Answer,
				context: rec.Turn.Prompt + rec.Turn.Answer})
			r.pending = saidIn(rec.Turn)
		case rec.Call != nil && rec.Call.Changes:
			does[rec.Call.ID] = rec.Call.Does
			if doubt[rec.Call.ID] {
				r.acts.add(rec.Call.Does, &inDoubt)
				r.acts.knows(rec.Call.ID, r.doubted(rec.Call.Tool))
			}
		case rec.Result != nil:
			res := tools.Result{Text: rec.Result.Text, Failed: rec.Result.Failed, Doubt: rec.Result.Doubt}
			r.acts.knows(rec.Result.ID, res)
			if !rec.Result.Refused {
				r.acts.counts(r.pending.tool(rec.Result.ID), time.Duration(rec.Result.Took)*time.Millisecond)
			}
			if what, changes := does[rec.Result.ID]; changes {
				r.acts.add(what, &res)
			}
		}
	}
	for i, c := range r.pending.calls() {
		if _, ran := r.acts.result(r.pending.ids[i]); !ran && secrets.IsMasked(string(c.Arguments)) {
			r.acts.knows(r.pending.ids[i], notKept)
		}
	}
}

// doubted is what the model reads of a call that may have taken effect, and has no result.
func (r *Run) doubted(tool string) tools.Result {
	return tools.Result{Failed: true, Doubt: true, Text: r.shown(tool, &inDoubt)}
}

// settle puts a reply with its results into the talk.
func (r *Run) settle() {
	if len(r.pending.calls()) == 0 {
		return
	}
	results := make([]tools.Result, len(r.pending.Calls))
	for i := range results {
		known := false
		// the caller left before it ran, and the run went on later
		if results[i], known = r.acts.result(r.pending.ids[i]); !known {
			results[i] = notRun
		}
	}
	r.count(r.pending.Calls, results)
	r.grow(r.pending, results)
}

// calls are those of a reply, if there is one.
func (s *modelReply) calls() []tools.Call {
	if s == nil {
		return nil
	}
	return s.Calls
}

// tool is which tool a call of a reply names; "" where there is no such call.
func (s *modelReply) tool(id string) string {
	if s != nil {
		if i := slices.Index(s.ids, id); i >= 0 {
			return s.Calls[i].Name
		}
	}
	return ""
}

// saidIn is a reply as it was kept.
func saidIn(t *TurnRecord) *modelReply {
	s := &modelReply{squeezed: t.Squeezed, usage: usage{prompt: t.Prompt, completion: t.Answer}, over: t.Over,
		why: t.Why}
	s.Content, s.Reasoning, s.Finish, s.Done = t.Content, t.Reasoning, t.Finish, t.Done
	for _, c := range t.Calls {
		s.Calls = append(s.Calls, tools.Call{Name: c.Tool, Arguments: json.RawMessage(c.Arguments),
			Strategy: "journal", Confidence: 1})
		s.ids = append(s.ids, c.ID)
	}
	return s
}

// as makes a run that of a journal, with what it did.
func (r *Run) as(req *openai.Request, past *Past) {
	r.ID, r.begin = past.ID, past.BeginRecord
	r.judge = r.Guard.Run(r.set, r.who, r.ID)
	r.restore(req, past)
}

// takeOver makes a new run the one that its request began not long ago in a process before this
// one: it goes on, or gives its end again. Where that one has changed something and cannot go on,
// the run says so in place of a second time. The error is an *openai.Error: another process goes
// on with it, and may yet change something.
func (r *Run) takeOver(req *openai.Request) error {
	sum := r.begin.Sum
	id, known := r.cut.runs[sum]
	if !known {
		return nil
	}
	delete(r.cut.runs, sum) // what comes every day in the same words must not get the answer of yesterday
	past, err := r.Journal.Load(id)
	if err != nil {
		r.notResumed(id, err)
		return nil
	}
	if !recalled(past, r.Now(), r.rules.Replay) {
		return nil
	}
	if past.Finished() {
		r.as(req, past)
		r.gives(&ending{text: past.End.Text, finish: past.End.Finish})
		return nil
	}
	kept, now, err := r.Journal.Continue(id, r.set.Version, "")
	if err == nil {
		r.as(req, now)
		r.kept = kept
		r.Log.Info("a run that was broken off goes on", "event", "run_resumed", "run", id,
			"doubt", len(now.Doubt()))
		return nil
	}
	r.notResumed(id, err)
	why := "It was broken off and cannot go on. The log of this program says why."
	if errors.Is(err, errRunHeld) {
		if !past.Changed() {
			r.cut.runs[sum] = id
			return openai.RunElsewhere()
		}
		why = "Another process of this program goes on with it. Ask again later for its answer."
	}
	if past.Changed() {
		r.as(req, past)
		r.gives(r.unfinished(&modelReply{}, "The work is not finished. "+why))
	}
	return nil
}

// recalled reports whether a run is the one that its request means: it was broken off not long ago, or
// has changed something and ended lately.
func recalled(past *Past, now time.Time, replay time.Duration) bool {
	ago := now.Sub(past.Last)
	return ago <= recovery && (past.End == nil || past.Changed() && ago < replay)
}

// gives makes this the end of a run of the process before. A further request looks it up again.
func (r *Run) gives(end *ending) {
	r.before = end
	r.cut.runs[r.begin.Sum] = r.ID
}

func (r *Run) notResumed(id string, err error) {
	r.Log.Warn("a run that was broken off cannot go on", "event", "run_not_resumed", "run", id,
		"detail", err.Error())
}

// cut are the ids of the runs that stood in the journal at the start, by their request. Its lock is
// held until a run that goes on stands among those of late: the same request may come twice at once.
type cut struct {
	mu   sync.Mutex
	runs map[string]string
}

// findCut looks for them. Older ones wait for `runs resume`.
func findCut(j *Journal, since time.Time) *cut {
	c := &cut{runs: map[string]string{}}
	if j == nil {
		return c
	}
	for _, p := range j.Since(since) {
		if _, later := c.runs[p.Sum]; !later {
			c.runs[p.Sum] = p.ID
		}
	}
	return c
}
