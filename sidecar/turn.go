package sidecar

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// errDraining ends what is still open when the grace period is over.
var errDraining = errors.New("the sidecar is stopping")

// turn is one request on its way: asked until the reply is good, or nothing is
// left to try.
type turn struct {
	s          *Server
	up         *upstream.Client
	set        *ruleset.Set
	usage      bool // the caller wants a usage chunk
	choices    int  // of the reply that was read last
	model      ruleset.Model
	srv        *ruleset.Server
	catalog    *tools.Catalog
	strategies *parse.Strategies
	facts      parse.Facts
	who        policy.Subject
	id         string // in the decision log
	body       []byte // as the upstream gets it
	out        output

	asked map[ruleset.Fault]int // further requests so far, by their reason
	spent int
}

// fault is what an error inside a 200 means.
func (t *turn) fault(body []byte) error {
	return t.up.Classify(t.set, t.srv, upstream.Answer{Body: body})
}

// output is the way of a reply to the caller.
type output interface {
	// take reads one reply and lets leave what may. The error is one of the
	// upstream: the reply broke off.
	take(reply *upstream.Reply) (parse.Reading, error)
	// left says that text or a call is with the caller already.
	left() bool
	// say adds a sentence of our own to what would be empty.
	say(text string)
	// finish ends the answer.
	finish() error
	// fail ends it with an error.
	fail(e *openai.Error) error
}

// run asks, reads and, within the bounds of the recovery rules, asks again.
func (t *turn) run(ctx context.Context) error {
	body := t.body
	for {
		reading, err := t.ask(ctx, body)
		if ctx.Err() != nil {
			return t.gone(ctx)
		}
		fault, about := t.judge(&reading, err)
		if fault == "" {
			return t.out.finish()
		}
		remedy := t.set.Recovery.For(fault)
		again := t.again(fault, &remedy)
		t.report(fault, &remedy, again, about, err)
		if !again {
			return t.settle(&reading, &remedy, about, err)
		}
		if remedy.Action == ruleset.Correct {
			body = upstream.Correct(t.body, reading.Content, remedy.Correction(about.Name, about.Why, t.catalog.Names()))
		}
	}
}

// ask sends one request and reads its reply.
func (t *turn) ask(ctx context.Context, body []byte) (parse.Reading, error) {
	began := time.Now()
	reply, err := t.up.Ask(ctx, t.set, t.srv, body)
	if err != nil {
		return parse.Reading{}, err
	}
	defer reply.Body.Close()
	t.s.metrics.First.Observe(seconds(began))
	return t.out.take(reply)
}

// judge says what is wrong with a reply, or "".
func (t *turn) judge(r *parse.Reading, err error) (ruleset.Fault, tools.Refusal) {
	var f *upstream.Failure
	switch {
	case errors.As(err, &f):
		return f.Fault, tools.Refusal{Why: f.Say.Message}
	case err != nil:
		return ruleset.StreamError, tools.Refusal{Why: "the reply broke off"}
	case len(r.Calls) > 0:
		return "", tools.Refusal{}
	case len(r.Refused) > 0:
		first := r.Refused[0]
		return refused[first.Code], first
	case !r.Empty():
		return "", tools.Refusal{}
	case r.Finish == "length":
		return ruleset.Length, tools.Refusal{Why: "the token limit was reached before there was an answer"}
	case r.Reasoning != "":
		return ruleset.ReasoningOnly, tools.Refusal{Why: "the model thought and then gave no answer"}
	}
	return ruleset.Empty, tools.Refusal{Why: "the model gave an empty reply"}
}

// deciding is the reading by which a reply with several choices is judged: the first,
// or one that is empty because a call was denied. There is at least one.
func (t *turn) deciding(readings []parse.Reading) parse.Reading {
	t.choices = len(readings)
	for _, r := range readings {
		if r.Denied() && r.Empty() {
			return r
		}
	}
	return readings[0]
}

var refused = map[tools.RefusalCode]ruleset.Fault{
	tools.NotOffered: ruleset.NotOffered,
	tools.BadName:    ruleset.NotOffered,
	tools.Ambiguous:  ruleset.Ambiguous,
	tools.BadJSON:    ruleset.BadJSON,
	tools.BadSchema:  ruleset.BadSchema,
	tools.Truncated:  ruleset.Truncated,
	tools.Denied:     ruleset.Denied,
}

// again says whether one more request may help, and counts it. What has left
// cannot be taken back: then only a correction, which continues, is possible, and only
// of a reply with one choice.
func (t *turn) again(f ruleset.Fault, r *ruleset.Remedy) bool {
	if r.Action == ruleset.GiveUp || r.Action == "" || t.asked[f] >= r.Attempts || t.spent >= t.set.Recovery.Total {
		return false
	}
	if (r.Action == ruleset.Resample || t.choices > 1) && t.out.left() {
		return false
	}
	if t.asked == nil {
		t.asked = make(map[ruleset.Fault]int)
	}
	t.asked[f]++
	t.spent++
	return true
}

// settle answers when nothing more is tried.
func (t *turn) settle(r *parse.Reading, remedy *ruleset.Remedy, about tools.Refusal, err error) error {
	var f *upstream.Failure
	if errors.As(err, &f) {
		return t.out.fail(f.Say)
	}
	if remedy.Status != 0 && !t.out.left() {
		return t.out.fail(&openai.Error{
			Status: remedy.Status, Type: remedy.Type, Code: remedy.Code,
			Message: remedy.Say(about.Why), RetryAfter: remedy.RetryAfter,
		})
	}
	if err != nil {
		return t.out.fail(openai.UpstreamFailed("the reply of the model server broke off", err.Error()))
	}
	if r.Empty() {
		text := remedy.Say(about.Why)
		if text == "" {
			text = "The model gave no usable answer: " + about.Why + "."
		}
		t.out.say(parse.Guarded(t.catalog, text)) // it may quote the model
	}
	return t.out.finish()
}

// gone ends a request whose context did: the caller left, or we are stopping.
func (t *turn) gone(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errDraining) {
		return t.out.fail(openai.Overloaded(time.Second))
	}
	return &openai.Error{Status: upstream.StatusClosed, Type: "client_closed_request", Message: "the caller left"}
}

// report makes a fault visible to the operator.
func (t *turn) report(f ruleset.Fault, r *ruleset.Remedy, again bool, about tools.Refusal, err error) {
	action := ruleset.GiveUp
	if again {
		action = r.Action
	}
	t.s.metrics.Faults.WithLabelValues(string(f), string(action)).Inc()
	detail := about.Why
	var said *openai.Error
	if errors.As(err, &said) && said.Log != "" {
		detail = said.Log
	}
	t.s.log.Info("fault", "event", "fault", "fault", f, "action", action, "model", t.model.ID, "server", t.srv.ID,
		"tool", about.Name, "detail", detail, "rules", t.set.Version)
}

// count records what a reading found. A clean reply costs nothing here.
func (t *turn) count(r *parse.Reading) {
	for i := range r.Calls {
		c := &r.Calls[i]
		t.s.metrics.Calls.WithLabelValues(c.Strategy).Inc()
		for _, fix := range c.Repairs {
			t.s.metrics.Repairs.WithLabelValues(fix.Kind).Inc()
		}
	}
	t.set.Hit(r, func(rule ruleset.Rule) { t.s.metrics.Hits.WithLabelValues(rule.File, rule.ID).Inc() })
	for i := range r.Refused {
		t.s.metrics.Refusals.WithLabelValues(string(r.Refused[i].Code)).Inc()
	}
	for i := range r.Steps {
		st := &r.Steps[i]
		t.s.log.Debug("reading", "event", "reading_step", "strategy", st.Strategy, "rule", st.Rule, "field", st.Field,
			"from", st.From, "to", st.To, "outcome", st.Outcome, "note", st.Note)
	}
}

// remember keeps the thoughts behind the calls that left under these ids, and which of
// them the gateway shall ask about.
func (t *turn) remember(ids []string, r *parse.Reading) {
	for i, id := range ids {
		t.s.thoughts.Put(id, r.Reasoning)
		if i < len(r.Calls) && slices.ContainsFunc(r.Calls[i].Repairs, isAsk) {
			t.s.asks.Left(id, t.who.Agent, t.s.now())
		}
	}
}

// recovered reads what an error body quoted of the model's own words.
func recovered(r *parse.Reader, from *upstream.Recovered) {
	d := parse.Delta{Content: from.Text}
	for i, c := range from.Calls {
		d.Calls = append(d.Calls, parse.CallDelta{Index: i, Name: c.Name, Arguments: c.Arguments})
	}
	r.Feed(d)
}
