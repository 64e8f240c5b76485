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

// whyUnfinished explains a reply without a finish_reason.
const whyUnfinished = "without a reason; Ollama does so where one piece comes more than 30 times in a row, as in a long row of the same characters"

// faultOf returns what is wrong with a reply; "": nothing.
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
		t.subject.Run: // a run ends with its last call, if the model has no more to say
		return "", tools.Refusal{}
	case r.Cut == openai.ContentFilter && t.agent: // others know what content_filter means
		return ruleset.Filtered, tools.Refusal{Why: "the content filter of the model server cut it off"}
	case len(r.Refused) > 0:
		first := r.Refused[0]
		return refusalFaults[first.Code], first
	case r.Cut == openai.Unfinished && r.Empty():
		return ruleset.Unfinished, tools.Refusal{Why: whyUnfinished}
	case r.Cut == openai.Unfinished:
		return ruleset.Cut, tools.Refusal{Why: whyUnfinished}
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

// decidingReading returns the reading that judges a reply of several choices: one that is empty because a
// call was refused, else the first. There is at least one.
func (t *Turn) decidingReading(readings []parse.Reading) *parse.Reading {
	t.choices = len(readings)
	for i := range readings {
		if r := &readings[i]; len(r.Refused) > 0 && r.Empty() {
			return r
		}
	}
	return &readings[0]
}

// toolName returns the only offered tool; "": there are several.
func (t *Turn) toolName() string {
	if len(t.offered) == 1 {
		return t.offered[0].Name
	}
	return ""
}

var refusalFaults = map[tools.RefusalCode]ruleset.Fault{
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

// takeRetry reports whether one more request may help, and counts it. What has left cannot be taken back:
// then the model needs a correction, so that it continues, and the reply must have a single choice.
func (t *Turn) takeRetry(f ruleset.Fault, r *ruleset.Remedy) bool {
	if !t.hasRetry(f, r) || (r.Text == nil || t.choices > 1) && t.sink.Sent() {
		return false
	}
	if t.retries == nil {
		t.retries = make(map[ruleset.Fault]int)
	}
	t.retries[f]++
	t.retried++
	return true
}

// alreadyRetried reports whether the request was already sent again, as limits.yaml says or to another
// server.
func (t *Turn) alreadyRetried(err error) bool {
	var f *upstream.Failure
	return errors.As(err, &f) && f.Fault == ruleset.ServerError && (f.Retried || t.route.Several())
}

// hasRetry reports whether the rules allow one more request for a fault.
func (t *Turn) hasRetry(f ruleset.Fault, r *ruleset.Remedy) bool {
	return r.Action != ruleset.GiveUp && r.Action != "" && t.retries[f] < r.Attempts &&
		t.retried < t.set.Recovery.Total
}

// giveUp answers when nothing more is tried: with the rules' sentence for the user of an agent, with their
// status, or with what there is.
func (t *Turn) giveUp(r *parse.Reading, fault ruleset.Fault, remedy *ruleset.Remedy, about tools.Refusal,
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
		return t.saySentence(fault, sentence, about, err)
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
	return t.endWith(text)
}

// saySentence answers with a sentence of the rules in place of an error and logs that.
func (t *Turn) saySentence(fault ruleset.Fault, sentence string, about tools.Refusal, err error) error {
	t.planner.Metrics.Notices.WithLabelValues(t.labels(string(fault))...).Inc()
	t.log.Warn("the user reads a sentence of the rules", "event", "said", "fault", fault,
		"model", t.Model.ID.Value,
		"server", t.srv.ID.Value, "agent", t.subject.Agent, "session", t.subject.Session,
		"detail", detail(about, err), "rules", t.set.Version)
	if err != nil {
		t.sink.Begin("") // nothing of the broken reply leaves
	}
	return t.endWith(sentence)
}

// endWith ends the answer with a sentence, which may quote the model.
func (t *Turn) endWith(sentence string) error {
	t.account.Notice = sentence
	t.sink.Say(parse.InertText(t.catalog, sentence))
	return t.sink.Finish()
}

// canceled ends a request whose caller left, or which outlives the program.
func (t *Turn) canceled(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), ErrStopping) {
		return t.fail(openai.Overloaded(time.Second))
	}
	return ClientClosed()
}

// ClientClosed returns the error of a request whose caller left.
func ClientClosed() *openai.Error {
	return &openai.Error{Status: upstream.StatusClosed, Type: "client_closed_request",
		Message: "the caller left"}
}

// fail ends the turn with an error, worded so that the agent tries again.
func (t *Turn) fail(e *openai.Error) error {
	if t.set.Agent != nil && t.set.Agent.Retry != "" {
		copied := *e
		copied.Retry, e = t.set.Agent.Retry, &copied
	}
	return t.sink.Fail(e)
}
