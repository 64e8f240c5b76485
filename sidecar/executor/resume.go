package executor

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/journal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// inDoubt is the result of a call that was about to run when the program ended.
var inDoubt = tools.Result{Failed: true, Doubt: true, Text: "The program ended while this call ran."}

// notRun is the result of a call that had not begun when the run was broken off.
var notRun = tools.Result{Failed: true, Text: "Error: this call was not run, because the run is over."}

// notKept is the result of a call that cannot run any more as it was written.
var notKept = tools.Result{Failed: true, Text: "Error: this call was not run. The program ended before it, and a secret in its arguments was not kept. Send it again with the secret itself, or tell the user."}

// restore takes over what a run did, by its journal. Calls of which nobody knows whether they
// took effect are not run again: their results say so.
func (r *Run) restore(req *openai.Request, p *journal.Past) {
	doubt := map[string]bool{}
	for _, id := range p.Doubt() {
		doubt[id] = true
	}
	does := map[string]string{} // of calls that change something
	r.work = work{talk: newTalk(req, r.tools), acts: &acts{}, known: map[string]tools.Result{}}
	for _, rec := range p.Records {
		switch {
		case rec.Turn != nil:
			r.settle()
			r.fit()
			if rec.Turn.Squeezed {
				r.squeeze()
			}
			r.acts.turns = rec.Turn.N
			r.usage.add(usage{prompt: rec.Turn.Prompt, completion: rec.Turn.Answer, context: rec.Turn.Prompt + rec.Turn.Answer})
			r.pending = saidIn(rec.Turn)
		case rec.Call != nil && rec.Call.Changes:
			does[rec.Call.ID] = rec.Call.Does
			if doubt[rec.Call.ID] {
				r.acts.add(rec.Call.Does, &inDoubt)
				r.known[rec.Call.ID] = tools.Result{Failed: true, Doubt: true, Text: r.shown(rec.Call.Tool, &inDoubt)}
			}
		case rec.Result != nil:
			res := tools.Result{Text: rec.Result.Text, Failed: rec.Result.Failed, Doubt: rec.Result.Doubt}
			r.known[rec.Result.ID] = res
			if !rec.Result.Refused {
				r.acts.counts(r.pending.tool(rec.Result.ID), time.Duration(rec.Result.Took)*time.Millisecond)
			}
			if what, changes := does[rec.Result.ID]; changes {
				r.acts.add(what, &res)
			}
		}
	}
	for i := range r.pending.calls() {
		if _, ran := r.known[r.pending.ids[i]]; !ran && secrets.IsMasked(string(r.pending.Calls[i].Arguments)) {
			r.known[r.pending.ids[i]] = notKept
		}
	}
}

// settle puts a reply with its results into the talk.
func (r *Run) settle() {
	if len(r.pending.calls()) == 0 {
		return
	}
	results := make([]tools.Result, len(r.pending.Calls))
	keys, twins := r.twins(r.pending.Calls)
	for i := range r.pending.Calls {
		if twins[i] < i {
			results[i] = results[twins[i]]
			continue
		}
		res, ok := r.known[r.pending.ids[i]]
		if !ok { // the caller left before it ran, and the run went on later
			res = notRun
		}
		results[i] = res
		r.acts.seen(keys[i], &res)
	}
	r.grow(r.pending, results)
	r.pending, r.known = nil, map[string]tools.Result{}
}

// calls are those of a reply, if there is one.
func (s *said) calls() []tools.Call {
	if s == nil {
		return nil
	}
	return s.Calls
}

// tool is which tool a call of a reply names; "" where there is no such call.
func (s *said) tool(id string) string {
	if s != nil {
		if i := slices.Index(s.ids, id); i >= 0 {
			return s.Calls[i].Name
		}
	}
	return ""
}

// saidIn is a reply as it was kept.
func saidIn(t *journal.Turn) *said {
	s := &said{squeezed: t.Squeezed, usage: usage{prompt: t.Prompt, completion: t.Answer}}
	s.Content, s.Reasoning = t.Content, t.Reasoning
	for _, c := range t.Calls {
		s.Calls = append(s.Calls, tools.Call{Name: c.Tool, Arguments: json.RawMessage(c.Arguments), Strategy: "journal", Confidence: 1})
		s.ids = append(s.ids, c.ID)
	}
	return s
}

// again is the run of a journal, with what it did.
func (e *Executor) again(ctx context.Context, set *ruleset.Set, req *openai.Request, past *journal.Past) (*Run, error) {
	r, err := e.plan(ctx, set, req, turn.Caller{Session: past.Session})
	if err != nil {
		return nil, err
	}
	r.ID, r.begin = past.ID, past.Begin
	r.who.Session, r.who.Agent, r.who.Channel = past.Session, past.Agent, past.Channel
	r.judge = e.Guard.Run(set, r.who, r.ID)
	r.restore(req, past)
	return r, nil
}

// interrupted gives the run that a request began before this process did, not long ago: it
// goes on, or gives its answer again. Nil: there is none. fresh is a new run for the request;
// where the old one has changed something and cannot go on, it says so in place of a second
// time.
func (e *Executor) interrupted(ctx context.Context, set *ruleset.Set, req *openai.Request, fresh *Run) *Run {
	sum := fresh.begin.Sum
	past := e.cut.take(sum, e.Now().Add(-recovery))
	if past == nil {
		return nil
	}
	r, err := e.goOn(ctx, set, req, past)
	if err != nil {
		e.Log.Warn("a run that was broken off cannot go on", "event", "run_not_resumed", "run", past.ID, "detail", err.Error())
		if past.Changed() {
			r = fresh
			r.ID = past.ID
			r.restore(req, past)
			r.before = r.unfinished(&said{}, "The work is not finished. It was broken off and cannot go on. The log of this program says why.")
		}
	}
	if r != nil && r.before != nil { // whoever asks once more reads the same
		e.cut.runs[sum] = past
	}
	return r
}

// goOn is the run of a journal for its request: it goes on, or has its end already. Nil: the
// end is too long ago, or changed nothing.
func (e *Executor) goOn(ctx context.Context, set *ruleset.Set, req *openai.Request, past *journal.Past) (*Run, error) {
	soon := past.Changed() && e.Now().Sub(past.Last) < set.Runs.Replay
	switch {
	case past.End != nil && !soon:
		return nil, nil
	case !past.Finished():
		kept, past, err := e.Journal.Continue(past.ID, set.Version, "")
		if err != nil {
			return nil, err
		}
		r, err := e.again(ctx, set, req, past)
		if err != nil {
			return nil, errors.Join(err, kept.Close())
		}
		r.kept = kept
		e.Log.Info("a run that was broken off goes on", "event", "run_resumed", "run", r.ID, "doubt", len(past.Doubt()))
		return r, nil
	}
	r, err := e.again(ctx, set, req, past)
	if err != nil {
		return nil, err
	}
	r.before = &ending{text: past.End.Text, finish: past.End.Finish}
	return r, nil
}

// cut are the runs of the process before, by their request. Its lock is held until a run that
// goes on stands among those of late: the same request may come twice at once.
type cut struct {
	mu   sync.Mutex
	runs map[string]*journal.Past
}

// findCut looks for them. Older ones wait for `runs resume`.
func findCut(j *journal.Journal, since time.Time) *cut {
	c := &cut{runs: map[string]*journal.Past{}}
	if j == nil {
		return c
	}
	for _, p := range j.Since(since) {
		if _, later := c.runs[p.Sum]; !later {
			c.runs[p.Sum] = p
		}
	}
	return c
}

// take gives one that has a record since then, and forgets it: what comes every day in the same
// words must not get the answer of yesterday.
func (c *cut) take(sum string, since time.Time) *journal.Past {
	p := c.runs[sum]
	delete(c.runs, sum)
	if p == nil || p.Last.Before(since) {
		return nil
	}
	return p
}
