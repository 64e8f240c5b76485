package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// GoesOnError says why a run is not resumed: its request is answered, or goes on, elsewhere.
type GoesOnError struct {
	Run   string // that answers the request
	Ended bool   // with an answer
	Again bool   // that one broke off, too, and is the one to resume
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

// Resume goes on with a run that was broken off, by its journal; by is the person who wants that,
// if one does. Run must follow. A caller who sends the same request meanwhile gets the answer of this run.
// The error is journal.ErrUnknown, another of the journal, a *GoesOnError, or an *openai.Error.
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
	r, err := e.plan(ctx, set, req, turn.Caller{Session: past.Session})
	if err != nil {
		return nil, fmt.Errorf("resume a run: %w", err)
	}
	r.who.Session, r.who.Agent, r.who.Channel = past.Session, past.Agent, past.Channel
	e.cut.mu.Lock() // the same request must not begin at the same moment
	defer e.cut.mu.Unlock()
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
	r.as(req, past)
	r.kept, r.by, r.joined = kept, by, before
	if before == nil {
		if r.enter(); r.joined != nil { // at this very moment
			return nil, errors.Join(&GoesOnError{Run: r.joined.id}, kept.Close())
		}
	}
	if e.cut.runs[past.Sum] == id {
		delete(e.cut.runs, past.Sum) // a caller who sends the request gets the answer of this run
	}
	e.Log.Info("a run that was broken off is resumed", "event", "run_resumed", "run", id, "by", by,
		"doubt", len(past.Doubt()))
	return r, nil
}

// brokenOff is the run of this request and id that broke off in this process; nil: none of late did.
// The error says that the request is answered otherwise.
func (c *memos) brokenOff(sum, id string) (*memo, error) {
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
