// Package turn makes one good reply of the model: it plans a request, asks, reads, and asks
// again within the rules. What it reads goes to a Sink, piece by piece. It knows neither
// HTTP nor who watches, and judges no call itself.
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

// ErrStopping is the cause with which the context of a turn ends when the program stops.
var ErrStopping = errors.New("the sidecar is stopping")

// Turn is one request on its way: asked until the reply is good, or nothing is
// left to try. It is for one Run.
type Turn struct {
	p     *Planner
	log   *slog.Logger
	span  *telemetry.TurnSpan // nil: tracing is off
	Model ruleset.Model       // that is asked, under the id the caller sees

	route       *upstream.Route
	as          *ruleset.Model // as the rules have it
	up          *upstream.Client
	family      *ruleset.Family // of the model; nil: none knows it
	window      int             // of its context, in tokens; 0: unknown
	set         *ruleset.Set
	srv         *ruleset.Server
	catalog     *tools.Catalog
	offered     []tools.Tool
	forced      bool // a call must be made: a program reads the answer
	single      bool // a choice may hold one call
	who         policy.Subject
	facts       parse.Facts
	reads       parse.Facts // of the last reply: facts, and what its server and the asking so far add
	folder      string      // where the gateway says that the agent works, if the watcher listens
	from        Caller
	listens     bool // the watcher, to the words
	transcripts []transcript
	since       time.Time // it was planned
	// tools are offered, so a user reads the answer, and no program takes it for a summary
	agent bool
	// as the model reads it; nil once something came, and no other server can be asked
	req        *openai.Request
	part       int  // 0 to 99, the same for a session, or else for a conversation
	fresh      bool // the conversation has just begun: the caller cannot shorten it
	came       bool // something of the last reply
	known      upstream.Memory
	thoughts   memory          // behind the calls that leave
	notes      memory          // about calls that do not
	awaited    memory          // what the results of calls show
	style      *ruleset.Style  // in which the model calls tools; nil: the server does it
	body       []byte          // as the upstream gets it
	original   *openai.Request // as the caller sent it
	stopped    string          // what the user reads, since the model goes round in circles; "": it does not
	correction *correction     // that the model gets behind it; nil: none
	unstreamed bool            // the server hides errors in streams: it is asked for whole replies

	account Account
	asking  asking // the last request to a model server
	sink    Sink
	choices int                   // of the reply that was read last
	asked   map[ruleset.Fault]int // further requests so far, by their reason
	spent   int
}

// Run asks, reads and, within the bounds of the recovery rules, asks again. All of it goes
// to the sink. The error is an *openai.Error of which nothing has left.
func (t *Turn) Run(ctx context.Context, sink Sink) (err error) {
	t.sink, ctx = sink, t.span.In(ctx)
	defer func() { t.endSpan(err) }()
	for again := true; again; {
		reading, failed := t.round(ctx)
		again, err = t.concluded(ctx, reading, failed)
	}
	return err
}

// concluded is what follows from a round: the end, with this error, or a further one.
func (t *Turn) concluded(ctx context.Context, reading *parse.Reading, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, t.gone(ctx)
	}
	if again, err := t.otherwise(ctx, err); err != nil {
		return false, t.fail(openai.Internal(err.Error()))
	} else if again {
		t.correction = nil
		return true, nil
	}
	fault, about := t.faultOf(reading, err)
	t.account.Empty = reading.Empty()
	if fault == "" {
		return false, t.sink.Finish()
	} else if fault == ruleset.Denied && t.stopped != "" {
		return false, t.stop(about)
	}
	return t.next(fault, about, reading, err)
}

// correction is what a model is told of its reply.
type correction struct{ reply, text string }

// message is what is sent to the server.
func (t *Turn) message() []byte {
	body := t.body
	if t.correction != nil {
		body = upstream.Correct(body, t.correction.reply, t.correction.text, t.known.Alternate)
	}
	if t.unstreamed {
		body = upstream.Unstreamed(body)
	}
	return body
}

// next prepares what is asked after a reply that has a fault. Where that is nothing, the turn
// has ended with this error.
func (t *Turn) next(fault ruleset.Fault, about tools.Refusal, reading *parse.Reading,
	err error) (bool, error) {
	remedy := t.set.Recovery.For(fault)
	again := !t.retried(err) && t.again(fault, &remedy)
	t.report(fault, &remedy, again, about, err)
	switch fault {
	case ruleset.HarmonyError, ruleset.Empty, ruleset.ReasoningOnly: // its parser may have dropped the call
		t.srv = t.srv.Refused()
	}
	switch {
	case !again:
		return false, t.settle(reading, fault, &remedy, about, err)
	case remedy.Action == ruleset.Correct, t.sink.Sent():
		t.correction = &correction{reading.Content, remedy.Correction(about.Name, about.Why,
			t.catalog.Names())}
	}
	return true, nil
}

// ask sends one request and reads its reply.
func (t *Turn) ask(ctx context.Context) (*parse.Reading, error) {
	if t.came = false; !t.route.Enter(ctx) {
		return &parse.Reading{}, errClosed
	}
	within := t.asks(ctx)
	reading := &parse.Reading{}
	reply, reader, err := t.opened(within)
	if err == nil {
		reading, err = t.reading(ctx, reply, reader)
	}
	t.askedFor(within, err)
	t.ended(ctx, err)
	return reading, err
}

// reading reads a reply to its end.
func (t *Turn) reading(ctx context.Context, reply *upstream.Reply, reader *Reader) (*parse.Reading, error) {
	defer reply.Body.Close()
	defer reader.Close()
	err := t.read(reader, reply)
	switch {
	case err == nil:
		reading := t.deciding(reader.End(""))
		t.followed(reading)
		t.unread(ctx)
		return reading, nil
	case t.sink.Sent():
		return t.deciding(reader.Break()), err
	}
	return &parse.Reading{}, err
}

// opened sends the request, and makes a reader once the reply has begun.
func (t *Turn) opened(ctx context.Context) (*upstream.Reply, *Reader, error) {
	t.account.next()
	t.account.Turns++
	budget := t.route.Budget()
	budget.Streams = true
	if t.sink.Flows() && t.from.Run == "" { // a run that has begun goes on
		budget.Head = t.since.Add(t.from.Alive)
	}
	message := t.message()
	t.asking.size = len(message)
	reply, err := t.up.AskWithin(ctx, t.set, t.srv, message, t.from.Waits, budget)
	if err != nil {
		return nil, nil, err
	}
	t.asking.answered(reply.Stream)
	telemetry.Observe(t.p.Metrics.First, time.Since(t.asking.began).Seconds(), telemetry.PlaceOf(ctx))
	t.sink.Begin(t.servedBy())
	t.transcripts = nil
	t.reads = t.facts
	t.reads.Intact = t.sink.Flows() && !t.up.EatsHeaders()
	unsure := t.set.Recovery.For(ruleset.Unsure)
	t.reads.Asked = !t.mayAsk(ruleset.Unsure, &unsure)
	open := func() *parse.Reader { return t.set.Strategies(t.profile()).Reader(t.catalog, t.one(t.reads)) }
	return reply, NewReader(open, t.sink.Flows(), t.take), nil
}

// read reads a reply of any shape, up to its end.
func (t *Turn) read(r *Reader, reply *upstream.Reply) error {
	err := error(nil)
	switch {
	case reply.Recovered != nil:
		if !r.Recovered(reply.Recovered) {
			err = reply.Failure
		}
	case reply.Streams():
		err = r.Stream(reply.Body, int(t.set.Limits.LineBytes), int(t.set.Limits.ReplyBytes))
		if err == nil && r.torn && !t.srv.StopsSilently {
			err = errEnded
		}
	default:
		var doc []byte
		if doc, err = whole(reply); err == nil {
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

// take passes a piece on, and notes what has ended with it.
func (t *Turn) take(p *Piece) {
	if !t.came && p.speaks() {
		if t.came = true; !t.route.Several() {
			t.req = nil // it may be large, and a reply may last for minutes
		}
		t.route.Ended(upstream.Served, "")
		t.asking.came(p.Doc)
	}
	t.sink.Take(p)
	t.moved(p)
	if p.Doc != nil && p.Doc.Usage.Present() {
		t.account.tokens(p.Doc.Usage.Of(p.Doc.Doc))
	}
	for i := range p.Parts {
		part := &p.Parts[i]
		if t.transcribe(p, part); part.Reading != nil {
			t.count(part.Reading)
			ids := t.sink.Called(part.Choice)
			t.remember(ids, part.Reading)
			t.note(ids, part.Reading.Refused)
			t.replied(part.Choice, ids, part.Reading)
		}
	}
}

// whole reads the body of a reply.
func whole(reply *upstream.Reply) ([]byte, error) {
	var buf bytes.Buffer
	const most = 1 << 20 // of the room that is made at once, in bytes
	if n, err := strconv.Atoi(reply.Header.Get("Content-Length")); err == nil && n > 0 && n < most {
		buf.Grow(n + bytes.MinRead)
	}
	_, err := buf.ReadFrom(reply.Body)
	return buf.Bytes(), err
}
