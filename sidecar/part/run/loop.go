package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

var errTime = errors.New("the time of the run is over")

// Run goes on until there is an answer, or the rules or ctx end it, and sends everything to the sink.
// The error is an *openai.Error with which nothing was sent. It is returned only if no tool has
// changed anything, so that a caller may repeat the request.
func (r *Run) Run(ctx context.Context, sink turn.Sink) error {
	defer r.active.Add(-1)
	defer func() {
		r.span.End(cmp.Or(r.status, "given_again"), r.history.turns, r.history.calls, r.status == Failed)
	}()
	if open := r.active.Add(1); open > int64(r.rules.AtOnce) {
		defer r.release()
		r.status = Failed
		r.closeJournal()
		return sink.Fail(openai.RunsLimited())
	}
	r.sink = sink
	if r.earlierEnd != nil {
		return r.deliver(r.earlierEnd)
	}
	before, err := r.join(ctx)
	defer r.release()
	switch {
	case before != nil:
		return r.deliver(before)
	case err != nil && r.entry == nil:
		return err
	case err == nil:
		err = r.openJournal()
	}
	if err != nil {
		return sink.Fail(openai.Internal(err.Error()))
	}
	r.Log.Info("run started", "event", "executor_run_start", "run", r.ID, "model", r.Model.ID.Value,
		"session", r.who.Session,
		"tools", len(r.offered), "timeout_seconds", r.limit.Seconds(), "rules", r.set.Version)
	ctx, cancel := context.WithTimeoutCause(ctx, r.limit, errTime)
	defer cancel()
	end, err := r.loop(ctx)
	r.recordEnd(end, err)
	if end == nil {
		return err
	}
	r.entry.end = end
	return r.deliver(end)
}

// closeJournal releases the journal: the next request may go on with it.
func (r *Run) closeJournal() {
	if r.journal != nil {
		if err := r.journal.Close(); err != nil {
			r.Log.Error("the journal of a run cannot be closed", "event", "journal_broken", "run", r.ID,
				"detail", err.Error())
		}
	}
}

// release wakes the requests that wait for this run.
func (r *Run) release() {
	if r.entry != nil {
		r.recent.finish(r.entry, r.rules.Replay)
	}
}

// loop asks the model and runs its calls in turns. It returns the end of the run, or an *openai.Error
// that the sink has.
func (r *Run) loop(ctx context.Context) (*ending, error) {
	for n := r.history.turns + 1; ; n++ {
		s := r.pending
		if s != nil { // of a run that was broken off
			n--
		} else {
			var err error
			if s, err = r.nextReply(ctx, n, nil); err != nil {
				return r.fail(ctx, err)
			}
		}
		if s.over {
			return r.unfinished(s, s.why), nil
		}
		if len(s.Calls) == 0 {
			r.Log.Debug("no tools asked for", "event", "no_tools_requested", "run", r.ID, "iteration", n)
			r.logDone(s, n)
			return &ending{*s, r.answer(s), s.Finish}, nil
		}
		r.pending = s
		results, err := r.runCalls(ctx, n, s)
		if err != nil {
			return r.fail(ctx, err)
		}
		r.addTurn(s, results)
		switch {
		case ctx.Err() != nil:
			return r.fail(ctx, ctx.Err())
		case s.Done && strings.TrimSpace(s.Content) != "":
			r.logDone(s, n)
			return &ending{*s, s.Content, "stop"}, nil
		case r.history.maxRepeats >= r.rules.Same:
			return r.wrapUp(ctx, n+1, &r.rules.Ends.Same), nil
		case n >= r.rules.Turns:
			r.Log.Warn("the run has had all its turns", "event", "executor_max_iterations_exceeded",
				"run", r.ID, "iterations", n)
			return r.wrapUp(ctx, n+1, &r.rules.Ends.Turns), nil
		}
	}
}

// markOver marks a reply that ends the run with unfinished work: the last one allowed, a reply whose
// calls were all refused, or one that says nothing.
func (r *Run) markOver(s *modelReply, end *RunEnd) {
	switch {
	case end != nil: // no call of it runs, and the user is told of none
		s.over, s.why = true, end.Say
	case len(s.Calls) == 0 && len(s.Refused) > 0:
		s.over, s.why = true, strings.ReplaceAll(r.rules.Ends.Broken.Say, "{why}",
			s.Refused[len(s.Refused)-1].Why)
		s.why = strings.TrimSpace(s.sorry + "\n\n" + s.why)
	case len(s.Calls) == 0:
		s.over, s.why = s.sorry != "", s.sorry
	}
}

// answer returns the text for the caller. If the model only says that it is done, that is a list of
// what was done.
func (r *Run) answer(s *modelReply) string {
	if !s.Done || strings.TrimSpace(s.Content) != "" {
		return s.Content
	}
	return strings.TrimSpace("The model says that it is done. " + r.history.summary())
}

// logDone logs a reply that says in its own form that the work is done.
func (r *Run) logDone(s *modelReply, n int) {
	if !s.Done {
		return
	}
	signal := "" // of a reply that was kept
	for i := range s.Steps {
		if s.Steps[i].Outcome == parse.Finished {
			signal = s.Steps[i].Strategy
		}
	}
	r.Log.Info("the model says that it is done", "event", "completion_signal_detected", "run", r.ID,
		"iteration", n, "strategy", signal)
}

// nextReply makes one turn. If the server takes less than expected, it asks once more with less. With
// end set, the answer must be one without tools.
func (r *Run) nextReply(ctx context.Context, n int, end *RunEnd) (*modelReply, error) {
	tell := ""
	if end != nil {
		tell = end.Tell
	}
	if used, shortened := r.fit(); used >= r.rules.Context.TrimAt {
		r.Log.Warn("the context of the model fills up", "event", "context_window_approaching", "run", r.ID,
			"iteration", n,
			"used_percent", percent(used), "window", r.contextSize(), "shortened", shortened,
			"used_percent_now", percent(r.used()))
	}
	s, err := r.askOnce(ctx, n, tell)
	if why := r.overflow(s, err); why != "" && r.squeeze() {
		r.Log.Warn("the request was too long for the model server; it is asked again with less",
			"event", "context_overflow", "run", r.ID,
			"iteration", n, "why", why, "window", r.contextSize(), "used_percent_now", percent(r.used()))
		if s, err = r.askOnce(ctx, n, tell); s != nil {
			s.squeezed = true
		}
	}
	if err != nil {
		return nil, err
	}
	r.history.turns++
	r.markOver(s, end)
	return s, r.recordReply(n, s)
}

func (r *Run) askOnce(ctx context.Context, n int, tell string) (*modelReply, error) {
	began := r.Now()
	r.Log.Debug("asking the model", "event", "gpt_oss_call_start", "run", r.ID, "iteration", n)
	e := &replySink{to: r.sink, begun: &r.begun}
	err := r.readReply(ctx, r.talk.body(tell), e)
	took := r.Now().Sub(began).Milliseconds()
	r.usage.add(e.spent)
	r.usage.add(e.reply.usage)
	if err != nil {
		r.Log.Warn("the model did not answer", "event", "gpt_oss_call_failed", "run", r.ID, "iteration", n,
			"elapsed_ms", took, "detail", err.Error())
		return nil, err
	}
	r.Log.Info("the model has answered", "event", "gpt_oss_call_complete", "run", r.ID, "iteration", n,
		"elapsed_ms", took,
		"prompt_tokens", e.reply.usage.prompt, "completion_tokens", e.reply.usage.completion)
	if len(e.reply.Calls) > 0 {
		names := make([]string, len(e.reply.Calls))
		for i := range e.reply.Calls {
			names[i] = e.reply.Calls[i].Name
		}
		r.Log.Info("the model calls tools", "event", "tool_intents_parsed", "run", r.ID, "iteration", n,
			"tool_names", names)
	}
	return &e.reply, nil
}

func (r *Run) readReply(ctx context.Context, body []byte, e *replySink) error {
	req, err := openai.ParseRequest(body)
	if err != nil {
		return err
	}
	from := r.caller
	from.Run = r.ID // that of an earlier run, where this one goes on with it
	t, err := r.Turns.Plan(ctx, r.set, req, from)
	if err != nil {
		return err
	}
	err = t.Run(ctx, e)
	r.account.Add(t.Account())
	return err
}

// Account returns the account of the run.
func (r *Run) Account() turn.Account {
	a := r.account
	a.Edited(r.history.editRules)
	a.Model, a.Run, a.Who = r.Model.ID.Value, r.ID, r.who
	return a
}

// wrapUp asks for an answer without tools and ends the run with it.
func (r *Run) wrapUp(ctx context.Context, n int, end *RunEnd) *ending {
	if end.Tell != "" {
		if s, err := r.nextReply(ctx, n, end); err == nil {
			return r.unfinished(s, s.why)
		}
	}
	return r.unfinished(&modelReply{}, end.Say)
}

// fail ends a run in which the model failed, the time is over or the caller left. The sink gets an
// error only if nothing was changed: a repeated request would do everything twice.
func (r *Run) fail(ctx context.Context, err error) (*ending, error) {
	if cause := context.Cause(ctx); errors.Is(cause, errTime) {
		r.Log.Warn("the time of the run is over", "event", "executor_timeout", "run", r.ID,
			"timeout_seconds", r.limit.Seconds())
		if len(r.history.changes) == 0 {
			return nil, r.sink.Fail(openai.RunTimeout(r.limit))
		}
		return r.unfinished(&modelReply{}, r.rules.Ends.Time.Say), nil
	} else if cause != nil && !errors.Is(cause, turn.ErrStopping) {
		return nil, callerLeft()
	}
	var failed *openai.Error
	if !errors.As(err, &failed) {
		failed = openai.Internal(err.Error())
	}
	if len(r.history.changes) == 0 {
		return nil, r.sink.Fail(failed)
	}
	return r.unfinished(&modelReply{}, strings.ReplaceAll(r.rules.Ends.Broken.Say, "{why}",
		failed.Message)), nil
}

// unfinished returns the end of a run without a proper answer: the text so far, why it ended and what
// was done.
func (r *Run) unfinished(s *modelReply, why string) *ending {
	parts := slices.DeleteFunc([]string{s.Content, why, r.history.summary()},
		func(part string) bool { return strings.TrimSpace(part) == "" })
	text := strings.Join(parts, "\n\n")
	return &ending{*s, parse.InertText(tools.NewCatalog(r.set.Tools, r.Turns.Schemas, r.tools), text),
		"length"}
}

// deliver sends the end of a run to the caller.
func (r *Run) deliver(e *ending) error {
	if !r.begun {
		r.sink.Begin("")
	}
	var doc openai.Completion
	if err := doc.Parse(fmt.Appendf(nil, `{"usage":%s}`, r.usage.json())); err == nil {
		r.sink.Take(&turn.Piece{Doc: &doc})
	}
	reading := parse.Reading{Content: e.text, Reasoning: e.reply.Reasoning, Finish: e.finish}
	r.sink.Take(&turn.Piece{Run: r.metadata(),
		Parts: []turn.Part{{Events: []parse.Event{{Kind: parse.Text, Text: e.text}}, Reading: &reading}}})
	return r.sink.Finish()
}
