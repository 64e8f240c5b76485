package sidecar

import (
	"cmp"
	"context"
	"errors"
	"strings"
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
	model      ruleset.Model
	srv        *ruleset.Server
	catalog    *tools.Catalog
	strategies *parse.Strategies
	facts      parse.Facts
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
	// say adds a sentence of our own to an answer that would be empty.
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
// cannot be taken back: then only a correction, which continues, is possible.
func (t *turn) again(f ruleset.Fault, r *ruleset.Remedy) bool {
	if r.Action == ruleset.GiveUp || r.Action == "" || t.asked[f] >= r.Attempts || t.spent >= t.set.Recovery.Total {
		return false
	}
	if r.Action == ruleset.Resample && t.out.left() {
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

// decided records what the policy said of a call. Nothing can be asked here yet, so what
// asks is refused.
func (t *turn) decided(call *tools.Call, d policy.Decision) (refuse bool) {
	for _, f := range d.Audits {
		t.decision(*call, policy.Audit, f.Rule, f.Place, f.Why)
	}
	refuse = d.Effect == policy.Deny || d.Effect == policy.Ask
	if refuse {
		t.decision(*call, d.Effect, d.Rule, d.Place, d.Why)
	} else if d.Place != "" {
		t.s.metrics.Hits.WithLabelValues(fileOf(d.Place), d.Rule).Inc()
	}
	return refuse
}

func (t *turn) decision(call tools.Call, effect policy.Effect, rule, place, why string) {
	file := fileOf(place)
	t.s.metrics.Decisions.WithLabelValues(string(effect), file, cmp.Or(rule, "default")).Inc()
	if file != "" {
		t.s.metrics.Hits.WithLabelValues(file, rule).Inc()
	}
	t.s.log.Warn("policy", "event", "policy_"+string(effect), "tool", call.Name, "strategy", call.Strategy,
		"rule", rule, "place", place, "why", why, "rules", t.set.Version)
}

// fileOf is the file of a place: file:line.
func fileOf(place string) string {
	file, _, _ := strings.Cut(place, ":")
	return file
}

// remember keeps the thoughts behind the calls that left under these ids.
func (t *turn) remember(ids []string, thought string) {
	for _, id := range ids {
		t.s.thoughts.Put(id, thought)
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
