package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// inDoubt is the result of a call that was running when the program ended.
var inDoubt = tools.Result{Failed: true, Doubt: true, Text: "The program ended while this call ran."}

// notRun is the result of a call that had not begun when the run was broken off.
var notRun = tools.Result{Failed: true, Text: "Error: this call was not run, because the run is over."}

// secretLost is the result of a call that cannot run as it was recorded.
var secretLost = tools.Result{Failed: true,
	Text: "Error: this call was not run. The program ended before it, and a secret in its arguments was not kept. Send it again with the secret itself, or tell the user."}

// restore rebuilds the state of a run from its journal. A call that may have taken effect is not run
// again: its result says so.
func (r *Run) restore(req *openai.Request, p *Past) {
	doubt := map[string]bool{}
	for _, id := range p.Doubt() {
		doubt[id] = true
	}
	does := map[string]string{} // of calls that change something
	r.runState = runState{talk: newConversation(req, r.tools), history: &history{}}
	for _, rec := range p.Records {
		switch {
		case rec.Turn != nil:
			r.addPending()
			r.fit()
			if rec.Turn.Squeezed {
				r.squeeze()
			}
			r.history.turns = rec.Turn.N
			r.usage.add(usage{prompt: rec.Turn.Prompt, completion: rec.Turn.Answer,
				context: rec.Turn.Prompt + rec.Turn.Answer})
			r.pending = recordedReply(rec.Turn)
		case rec.Call != nil && rec.Call.Changes:
			does[rec.Call.ID] = rec.Call.Does
			if doubt[rec.Call.ID] {
				r.history.addChange(rec.Call.Does, &inDoubt)
				r.history.setResult(rec.Call.ID, r.doubtful(rec.Call.Tool))
			}
		case rec.Result != nil:
			res := tools.Result{Text: rec.Result.Text, Failed: rec.Result.Failed, Doubt: rec.Result.Doubt}
			r.history.setResult(rec.Result.ID, res)
			if !rec.Result.Refused {
				r.history.countRun(r.pending.tool(rec.Result.ID),
					time.Duration(rec.Result.Took)*time.Millisecond)
			}
			if what, changes := does[rec.Result.ID]; changes {
				r.history.addChange(what, &res)
			}
		}
	}
	for i, c := range r.pending.calls() {
		if _, ran := r.history.result(r.pending.ids[i]); !ran && secrets.IsMasked(string(c.Arguments)) {
			r.history.setResult(r.pending.ids[i], secretLost)
		}
	}
}

// doubtful returns what the model reads of a call that may have taken effect and has no result.
func (r *Run) doubtful(tool string) tools.Result {
	return tools.Result{Failed: true, Doubt: true, Text: r.resultText(tool, &inDoubt)}
}

// addPending adds the pending reply and its results to the conversation.
func (r *Run) addPending() {
	if len(r.pending.calls()) == 0 {
		return
	}
	results := make([]tools.Result, len(r.pending.Calls))
	for i := range results {
		known := false
		// the caller left before it ran, and the run went on later
		if results[i], known = r.history.result(r.pending.ids[i]); !known {
			results[i] = notRun
		}
	}
	r.countRepeats(r.pending.Calls, results)
	r.addTurn(r.pending, results)
}

// calls returns the calls of a reply, which may be nil.
func (s *modelReply) calls() []tools.Call {
	if s == nil {
		return nil
	}
	return s.Calls
}

// tool returns the tool of a call; "" if the reply has no such call.
func (s *modelReply) tool(id string) string {
	if s != nil {
		if i := slices.Index(s.ids, id); i >= 0 {
			return s.Calls[i].Name
		}
	}
	return ""
}

func recordedReply(t *TurnRecord) *modelReply {
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

// adopt makes this the run of a journal, with what it did.
func (r *Run) adopt(req *openai.Request, past *Past) {
	r.ID, r.begin = past.ID, past.BeginRecord
	r.judge = r.Guard.Run(r.set, r.who, r.ID)
	r.restore(req, past)
}

// resumeInterrupted looks for a recent run of an earlier process with the same request. This run
// becomes that one: it goes on, or returns its end again. If that run has changed something and cannot
// go on, this one says so instead of doing it twice. The error, an *openai.Error, means that another
// process goes on with the run and may still change something.
func (r *Run) resumeInterrupted(req *openai.Request) error {
	sum := r.begin.Sum
	id, known := r.interrupted.runs[sum]
	if !known {
		return nil
	}
	delete(r.interrupted.runs, sum) // a daily request must not get the answer of yesterday
	past, err := r.Journal.Load(id)
	if err != nil {
		r.logNotResumed(id, err)
		return nil
	}
	if !isRepeated(past, r.Now(), r.rules.Replay) {
		return nil
	}
	if past.Finished() {
		r.adopt(req, past)
		r.setEnd(&ending{text: past.End.Text, finish: past.End.Finish})
		return nil
	}
	kept, now, err := r.Journal.Continue(id, r.set.Version, "")
	if err == nil {
		r.adopt(req, now)
		r.journal = kept
		r.Log.Info("a run that was broken off goes on", "event", "run_resumed", "run", id,
			"doubt", len(now.Doubt()))
		return nil
	}
	r.logNotResumed(id, err)
	why := "It was broken off and cannot go on. The log of this program says why."
	if errors.Is(err, errRunHeld) {
		if !past.Changed() {
			r.interrupted.runs[sum] = id
			return openai.RunElsewhere()
		}
		why = "Another process of this program goes on with it. Ask again later for its answer."
	}
	if past.Changed() {
		r.adopt(req, past)
		r.setEnd(r.unfinished(&modelReply{}, "The work is not finished. "+why))
	}
	return nil
}

// isRepeated reports whether a request repeats that of a run: it was broken off recently, or has
// changed something and ended within replay.
func isRepeated(past *Past, now time.Time, replay time.Duration) bool {
	ago := now.Sub(past.Last)
	return ago <= recovery && (past.End == nil || past.Changed() && ago < replay)
}

// setEnd makes end the end of this run. A further request looks it up again.
func (r *Run) setEnd(end *ending) {
	r.earlierEnd = end
	r.interrupted.runs[r.begin.Sum] = r.ID
}

func (r *Run) logNotResumed(id string, err error) {
	r.Log.Warn("a run that was broken off cannot go on", "event", "run_not_resumed", "run", id,
		"detail", err.Error())
}

// interruptedRuns holds the runs of the journal at the start, by request. Its lock is held until a
// resumed run is among the recent ones: the same request may come twice at once.
type interruptedRuns struct {
	mu   sync.Mutex
	runs map[string]string
}

// findInterrupted finds the runs with a record since then. Older ones wait for `runs resume`.
func findInterrupted(j *Journal, since time.Time) *interruptedRuns {
	c := &interruptedRuns{runs: map[string]string{}}
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

// GoesOnError says why a run is not resumed: another run has its request.
type GoesOnError struct {
	Run   string // the run that has the request
	Ended bool   // it ended with an answer
	Again bool   // it broke off too, and is the one to resume
}

func (e *GoesOnError) Error() string {
	switch {
	case e.Again:
		return "the same request was sent again, and its newest run is " + e.Run + ": that one can be resumed"
	case e.Ended:
		return "the same request was answered lately, by run " + e.Run
	}
	return "run " + e.Run + " goes on with this request"
}

// Resume prepares a run that was broken off to go on by its journal; Run must follow. By names the
// person who wants it, if there is one. A caller who sends the same request meanwhile gets this run's
// answer. The error is ErrUnknownRun, another of the journal, a *GoesOnError, or an *openai.Error.
func (e *Executor) Resume(ctx context.Context, set *ruleset.Set, id, by string) (*Run, error) {
	if e.Journal == nil {
		return nil, errors.New("resume a run: there is no journal; set the state folder")
	}
	past, err := e.Journal.Load(id)
	if err != nil {
		return nil, fmt.Errorf("resume a run: %w", err)
	}
	req, err := openai.ParseRequest(past.Request)
	if err != nil {
		return nil, fmt.Errorf("resume a run: %w", err)
	}
	r, err := e.newRun(ctx, set, req, turn.Caller{Session: past.Session})
	if err != nil {
		return nil, fmt.Errorf("resume a run: %w", err)
	}
	r.who.Session, r.who.Agent, r.who.Channel = past.Session, past.Agent, past.Channel
	e.interrupted.mu.Lock() // the same request must not begin at the same moment
	defer e.interrupted.mu.Unlock()
	before, err := e.recent.brokenOff(past.Sum, id)
	if err != nil {
		return nil, fmt.Errorf("resume a run: %w", err)
	}
	var kept *runJournal
	if before == nil { // else what it did is in memory, with its secrets, and join goes on with the journal
		if kept, past, err = e.Journal.Continue(id, set.Version, by); err != nil {
			return nil, fmt.Errorf("resume a run: %w", err)
		}
	}
	r.adopt(req, past)
	r.journal, r.by, r.other = kept, by, before
	if before == nil {
		if r.register(); r.other != nil { // at this very moment
			return nil, errors.Join(&GoesOnError{Run: r.other.id}, kept.Close())
		}
	}
	if e.interrupted.runs[past.Sum] == id {
		delete(e.interrupted.runs, past.Sum) // a caller who sends the request gets the answer of this run
	}
	e.Log.Info("a run that was broken off is resumed", "event", "run_resumed", "run", id, "by", by,
		"doubt", len(past.Doubt()))
	return r, nil
}

// brokenOff returns the run of this request and id that broke off in this process, or nil. The error
// says that another run has the request.
func (c *recentRuns) brokenOff(sum, id string) (*recentRun, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.runs[sum]
	switch {
	case m == nil:
		return nil, nil
	case !m.over():
		return nil, &GoesOnError{Run: m.id}
	case !c.now().Before(m.until):
		delete(c.runs, sum)
		return nil, nil
	case m.end != nil:
		return nil, &GoesOnError{Run: m.id, Ended: true}
	case m.id != id:
		return nil, &GoesOnError{Run: m.id, Again: true}
	}
	return m, nil
}
