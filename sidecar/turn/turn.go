// Package turn gets one good reply of the model: it plans a request, asks, reads, and asks again within the
// rules. Each piece goes to a Sink. The package knows neither HTTP nor the watchers, and judges no call
// itself.
package turn

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// ErrStopping is the cause that ends the contexts of turns when the program stops.
var ErrStopping = errors.New("the sidecar is stopping")

// Turn is one request, asked until the reply is good or nothing is left to try. It is for one Run.
type Turn struct {
	planner *Planner
	log     *slog.Logger
	span    *telemetry.TurnSpan // nil: tracing is off
	Model   ruleset.Model       // the model that is asked, under the id that the caller sees

	route       *upstream.Route
	ruleModel   *ruleset.Model // as models.yaml has it
	up          *upstream.Client
	family      *ruleset.Family // nil: none knows the model
	window      int             // of its context, in tokens; 0: unknown
	set         *ruleset.Set
	srv         *ruleset.Server
	catalog     *tools.Catalog
	offered     []tools.Tool
	forced      bool // a call must be made: a program reads the answer
	oneCall     bool // a choice may hold one call
	subject     policy.Subject
	facts       parse.Facts
	readFacts   parse.Facts // facts of the current reply: these, its server, and the retries so far
	folder      string      // workspace that the gateway names, if words are wanted
	caller      Caller
	wantsWords  bool // the watcher or the tracer wants the words of replies
	transcripts []transcript
	planned     time.Time // it was planned
	// Tools are offered, so a user reads the answer, and no program takes it for a summary.
	agent bool
	// req is the request as the model reads it; nil once something came and no other server can be asked.
	req        *openai.Request
	bucket     int  // 0 to 99, the same for a session or else a conversation
	fresh      bool // the conversation has just begun, so the caller cannot shorten it
	spoke      bool // the model has said something in the last reply
	known      upstream.Memory
	thoughts   memory          // behind calls that left
	notes      memory          // about calls that did not
	awaited    memory          // what results of calls will show
	style      *ruleset.Style  // of calling tools; nil: the server does it
	body       []byte          // for the upstream
	original   *openai.Request // as the caller sent it
	loopNotice string          // what the user reads when a loop is stopped; "": none is
	correction *correction     // sent with the next request; nil: none
	unstreamed bool            // the server hides errors in streams, so whole replies are asked for

	account Account
	attempt attempt // the last request to a model server
	sink    Sink
	choices int                   // number of choices in the last reply
	retries map[ruleset.Fault]int // by fault
	retried int                   // total of retries
}

// Run asks, reads and, within the bounds of the recovery rules, asks again. The answer goes to the sink.
// The error is an *openai.Error of which nothing has left.
func (t *Turn) Run(ctx context.Context, sink Sink) (err error) {
	t.sink, ctx = sink, t.span.In(ctx)
	defer func() { t.endSpan(err) }()
	for again := true; again; {
		reading, failed := t.round(ctx)
		again, err = t.conclude(ctx, reading, failed)
	}
	return err
}

// conclude judges a round. It reports whether another one follows; if not, the turn has ended with this
// error.
func (t *Turn) conclude(ctx context.Context, reading *parse.Reading, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, t.canceled(ctx)
	}
	if again, err := t.changeStyle(ctx, err); err != nil {
		return false, t.fail(openai.Internal(err.Error()))
	} else if again {
		t.correction = nil
		return true, nil
	}
	fault, about := t.faultOf(reading, err)
	t.account.Empty = reading.Empty()
	if fault == "" {
		return false, t.sink.Finish()
	} else if fault == ruleset.Denied && t.loopNotice != "" {
		return false, t.stopLoop(about)
	}
	return t.handleFault(fault, about, reading, err)
}

// correction tells the model what was wrong with its reply.
type correction struct{ reply, text string }

// requestBody returns the next request.
func (t *Turn) requestBody() []byte {
	body := t.body
	if t.correction != nil {
		body = upstream.Correct(body, t.correction.reply, t.correction.text, t.known.Alternate)
	}
	if t.unstreamed {
		body = upstream.Unstreamed(body)
	}
	return body
}

// handleFault prepares the request after a faulty reply. If there is none, the turn has ended with this
// error.
func (t *Turn) handleFault(fault ruleset.Fault, about tools.Refusal, reading *parse.Reading,
	err error) (bool, error) {
	remedy := t.set.Recovery.For(fault)
	again := !t.alreadyRetried(err) && t.takeRetry(fault, &remedy)
	t.reportFault(fault, &remedy, again, about, err)
	switch fault {
	case ruleset.HarmonyError, ruleset.Empty, ruleset.ReasoningOnly: // its parser may have dropped the call
		t.srv = t.srv.Refused()
	}
	switch {
	case !again:
		return false, t.giveUp(reading, fault, &remedy, about, err)
	case remedy.Action == ruleset.Correct, t.sink.Sent():
		t.correction = &correction{reading.Content, remedy.Correction(about.Name, about.Why,
			t.catalog.Names())}
	}
	return true, nil
}

// ask sends one request and reads its reply.
func (t *Turn) ask(ctx context.Context) (*parse.Reading, error) {
	if t.spoke = false; !t.route.Enter(ctx) {
		return &parse.Reading{}, errClosed
	}
	within := t.startAttempt(ctx)
	reading := &parse.Reading{}
	reply, reader, err := t.send(within)
	if err == nil {
		reading, err = t.readReply(ctx, reply, reader)
	}
	t.endAttempt(within, err)
	t.reportOutcome(ctx, err)
	return reading, err
}

// readReply reads a reply to its end.
func (t *Turn) readReply(ctx context.Context, reply *upstream.Reply, reader *Reader) (*parse.Reading, error) {
	defer reply.Body.Close()
	defer reader.Close()
	err := t.readBody(reader, reply)
	switch {
	case err == nil:
		reading := t.decidingReading(reader.End(""))
		t.checkSchema(reading)
		t.warnUnread(ctx)
		return reading, nil
	case t.sink.Sent():
		return t.decidingReading(reader.Break()), err
	}
	return &parse.Reading{}, err
}

// send sends the request and returns a reader once the reply has begun.
func (t *Turn) send(ctx context.Context) (*upstream.Reply, *Reader, error) {
	t.account.addTokens()
	t.account.Turns++
	budget := t.route.Budget()
	budget.Streams = true
	if t.sink.Flows() && t.caller.Run == "" { // a run that has begun goes on
		budget.Head = t.planned.Add(t.caller.Alive)
	}
	message := t.requestBody()
	t.attempt.size = len(message)
	reply, err := t.up.AskWithin(ctx, t.set, t.srv, message, t.caller.Waits, budget)
	if err != nil {
		return nil, nil, err
	}
	t.attempt.answered(reply.Stream)
	telemetry.Observe(t.planner.Metrics.First, time.Since(t.attempt.began).Seconds(), telemetry.PlaceOf(ctx))
	t.sink.Begin(t.servedBy())
	t.transcripts = nil
	t.readFacts = t.facts
	t.readFacts.Intact = t.sink.Flows() && !t.up.EatsHeaders()
	unsure := t.set.Recovery.For(ruleset.Unsure)
	t.readFacts.Asked = !t.hasRetry(ruleset.Unsure, &unsure)
	open := func() *parse.Reader {
		return t.set.Strategies(t.profile()).Reader(t.catalog, t.oneCallOnly(t.readFacts))
	}
	return reply, NewReader(open, t.sink.Flows(), t.take), nil
}

// readBody reads a reply of any form up to its end.
func (t *Turn) readBody(r *Reader, reply *upstream.Reply) error {
	err := error(nil)
	switch {
	case reply.Recovered != nil:
		if !r.Recovered(reply.Recovered) {
			err = reply.Failure
		}
	case reply.Streams():
		err = r.Stream(reply.Body, int(t.set.Limits.LineBytes), int(t.set.Limits.ReplyBytes))
		if err == nil && r.unmarked && !t.srv.StopsSilently {
			err = errEnded
		}
	default:
		var doc []byte
		if doc, err = readWhole(reply); err == nil {
			err = r.Document(doc)
		}
	}
	var inside *ErrorInside
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errHidden):
		t.unstreamed = true // in a whole reply the error stands, with the call
		return err
	case !errors.As(err, &inside):
		return t.up.Broken(t.set, err)
	}
	if quoted, ok := upstream.Recover(t.srv, inside.Body); ok && r.Recovered(&quoted) {
		return nil
	}
	return t.up.Classify(t.set, t.srv, upstream.Answer{Body: inside.Body})
}

// take passes a piece on and records what has ended with it.
func (t *Turn) take(p *Piece) {
	if !t.spoke && p.speaks() {
		if t.spoke = true; !t.route.Several() {
			t.req = nil // it may be large, and a reply may last for minutes
		}
		t.route.Ended(upstream.Served, "")
		t.attempt.spoke(p.Doc)
	}
	t.sink.Take(p)
	t.noteFirst(p)
	if p.Doc != nil && p.Doc.Usage.Present() {
		t.account.setTokens(p.Doc.Usage.Of(p.Doc.Doc))
	}
	for i := range p.Parts {
		part := &p.Parts[i]
		if t.transcribe(p, part); part.Reading != nil {
			t.count(part.Reading)
			ids := t.sink.Called(part.Choice)
			t.remember(ids, part.Reading)
			t.noteRefused(ids, part.Reading.Refused)
			t.reportReply(part.Choice, ids, part.Reading)
		}
	}
}

// readWhole reads the body of a reply.
func readWhole(reply *upstream.Reply) ([]byte, error) {
	var buf bytes.Buffer
	const most = 1 << 20 // of the room that is made at once, in bytes
	if n, err := strconv.Atoi(reply.Header.Get("Content-Length")); err == nil && n > 0 && n < most {
		buf.Grow(n + bytes.MinRead)
	}
	_, err := buf.ReadFrom(reply.Body)
	return buf.Bytes(), err
}
