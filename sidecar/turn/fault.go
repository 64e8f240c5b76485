package turn

import (
	"context"
	"errors"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// unfinished is why a reply ended without a finish_reason.
const unfinished = "without a reason; Ollama does so where one piece comes more than 30 times in a row, as in a long row of the same characters"

// faultOf says what is wrong with a reply, or "".
func (t *Turn) faultOf(r *parse.Reading, err error) (ruleset.Fault, tools.Refusal) {
	var f *upstream.Failure
	switch {
	case errors.As(err, &f):
		return f.Fault, tools.Refusal{Why: f.Why}
	case errors.Is(err, errHidden):
		return ruleset.HarmonyError, tools.Refusal{Why: err.Error()}
	case err != nil:
		return ruleset.StreamError, tools.Refusal{Why: "the reply broke off"}
	case len(r.Calls) > 0, r.Done && len(r.Refused) == 0 &&
		t.who.Run: // a run ends with its last call, if the model has no more to say
		return "", tools.Refusal{}
	case r.Cut == openai.ContentFilter && t.agent: // others know what content_filter means
		return ruleset.Filtered, tools.Refusal{Why: "the content filter of the model server cut it off"}
	case len(r.Refused) > 0:
		first := r.Refused[0]
		return refused[first.Code], first
	case r.Cut == openai.Unfinished && r.Empty():
		return ruleset.Unfinished, tools.Refusal{Why: unfinished}
	case r.Cut == openai.Unfinished:
		return ruleset.Cut, tools.Refusal{Why: unfinished}
	case t.forced && !r.Empty() && r.Cut == "" && r.Finish != "length" &&
		t.set.Recovery.For(ruleset.NotCalled).Action != "":
		return ruleset.NotCalled, tools.Refusal{Name: t.toolName(), Why: "it answered with text"}
	case !r.Empty() && r.Cut != "" && r.Cut != openai.ContentFilter:
		return ruleset.Cut, tools.Refusal{Why: r.Cut}
	case !r.Empty() || r.Cut == openai.ContentFilter:
		return "", tools.Refusal{}
	case r.Finish == "length":
		return ruleset.Length, tools.Refusal{Why: "the token limit was reached before there was an answer"}
	case r.Reasoning != "":
		return ruleset.ReasoningOnly, tools.Refusal{Why: "the model thought and then gave no answer"}
	}
	return ruleset.Empty, tools.Refusal{Why: "the model gave an empty reply"}
}

// deciding is the reading by which a reply with several choices is judged: the first,
// or one that is empty because a call was refused. There is at least one.
func (t *Turn) deciding(readings []parse.Reading) *parse.Reading {
	t.choices = len(readings)
	for i := range readings {
		if r := &readings[i]; len(r.Refused) > 0 && r.Empty() {
			return r
		}
	}
	return &readings[0]
}

// toolName is the only tool that is offered; "" where there are several.
func (t *Turn) toolName() string {
	if len(t.offered) == 1 {
		return t.offered[0].Name
	}
	return ""
}

var refused = map[tools.RefusalCode]ruleset.Fault{
	tools.NotOffered: ruleset.NotOffered,
	tools.BadName:    ruleset.NotOffered,
	tools.Ambiguous:  ruleset.Ambiguous,
	tools.BadJSON:    ruleset.BadJSON,
	tools.BadSchema:  ruleset.BadSchema,
	tools.Unsure:     ruleset.Unsure,
	tools.Behind:     ruleset.Unsure,
	tools.Truncated:  ruleset.Truncated,
	tools.Denied:     ruleset.Denied,
}

// again says whether one more request may help, and counts it. What has left
// cannot be taken back: then the model must be told something, so that it continues, and only
// of a reply with one choice.
func (t *Turn) again(f ruleset.Fault, r *ruleset.Remedy) bool {
	if !t.mayAsk(f, r) || (r.Text == nil || t.choices > 1) && t.sink.Sent() {
		return false
	}
	if t.asked == nil {
		t.asked = make(map[ruleset.Fault]int)
	}
	t.asked[f]++
	t.spent++
	return true
}

// retried reports a failure of the server after which the request was sent again already: as limits.yaml
// says, or to another server.
func (t *Turn) retried(err error) bool {
	var f *upstream.Failure
	return errors.As(err, &f) && f.Fault == ruleset.ServerError && (f.Retried || t.route.Several())
}

// mayAsk says that the rules allow one more request because of a fault.
func (t *Turn) mayAsk(f ruleset.Fault, r *ruleset.Remedy) bool {
	return r.Action != ruleset.GiveUp && r.Action != "" && t.asked[f] < r.Attempts &&
		t.spent < t.set.Recovery.Total
}

// settle answers when nothing more is tried: with the sentence of the rules for the user of
// an agent, else with the status of the rules, else with what there is.
func (t *Turn) settle(r *parse.Reading, fault ruleset.Fault, remedy *ruleset.Remedy, about tools.Refusal,
	err error) error {
	var f *upstream.Failure
	sentence := ""
	if must := t.set.Recovery.For(ruleset.NotCalled); t.forced && err == nil && remedy.Status == 0 &&
		len(r.Refused) > 0 {
		remedy = &must
	}
	if t.agent && !t.forced && (fault != ruleset.Overflow || t.fresh) {
		sentence = remedy.Sentence(about.ToPerson())
	}
	switch {
	case sentence != "" && (err == nil || !t.sink.Sent()):
		return t.say(fault, sentence, about, err)
	case errors.As(err, &f):
		return t.fail(f.Say)
	case remedy.Status != 0 && (err != nil || t.forced || !t.sink.Sent()):
		failed := &openai.Error{
			Status: remedy.Status, Type: remedy.Type, Code: remedy.Code,
			Message: remedy.Say(about.Why), RetryAfter: remedy.RetryAfter,
		}
		if err != nil {
			failed.Log = err.Error()
		}
		return t.fail(failed)
	case err != nil:
		return t.fail(openai.UpstreamFailed("the reply of the model server broke off", err.Error()))
	case !r.Empty() && len(r.Refused) == 0: // it was cut, and its finish_reason says so
		return t.sink.Finish()
	}
	text := remedy.Say(about.ToPerson())
	switch {
	case text != "":
	case r.Empty():
		text = "The model gave no usable answer: " + about.ToPerson() + "."
	default:
		text = "A call was not made: " + about.ToPerson() + "."
	}
	return t.tell(text)
}

// say answers with a sentence of the rules in place of an error, and lets the operator know.
func (t *Turn) say(fault ruleset.Fault, sentence string, about tools.Refusal, err error) error {
	t.p.Metrics.Notices.WithLabelValues(t.labels(string(fault))...).Inc()
	t.log.Warn("the user reads a sentence of the rules", "event", "said", "fault", fault,
		"model", t.Model.ID.Value,
		"server", t.srv.ID.Value, "agent", t.who.Agent, "session", t.who.Session,
		"detail", detail(about, err), "rules", t.set.Version)
	if err != nil {
		t.sink.Begin("") // nothing of the broken reply leaves
	}
	return t.tell(sentence)
}

// tell ends the answer with a sentence. It may quote the model.
func (t *Turn) tell(sentence string) error {
	t.account.Notice = sentence
	t.sink.Say(parse.InertText(t.catalog, sentence))
	return t.sink.Finish()
}

// gone ends a request whose context did: the caller left, or we are stopping.
func (t *Turn) gone(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), ErrStopping) {
		return t.fail(openai.Overloaded(time.Second))
	}
	return ClientClosed()
}

// ClientClosed is the error of a request whose caller left.
func ClientClosed() *openai.Error {
	return &openai.Error{Status: upstream.StatusClosed, Type: "client_closed_request",
		Message: "the caller left"}
}

// fail ends the turn with an error, in words by which the agent tries again.
func (t *Turn) fail(e *openai.Error) error {
	if t.set.Agent != nil && t.set.Agent.Retry != "" {
		here := *e
		here.Retry, e = t.set.Agent.Retry, &here
	}
	return t.sink.Fail(e)
}
