package upstream

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Failure is a request that the upstream did not answer, or an answer that broke
// off. Fault decides what is done about it, Say is what the caller is told if
// nothing helps. errors.As finds the *openai.Error in it.
type Failure struct {
	Fault ruleset.Fault
	Why   string // what the upstream said, and a hint of the rules; fit for the caller
	Say   *openai.Error

	NoTools bool // the server cannot call tools
	Retried bool // the request was sent again, as limits.yaml says

	noAPI bool // there is nothing at the path of the server's own API

	fits int // tokens that the context leaves for the reply, where max_tokens was more; else 0
}

func (f *Failure) Error() string { return string(f.Fault) + ": " + f.Say.Message }

// Unwrap gives the *openai.Error.
func (f *Failure) Unwrap() error { return f.Say }

// StatusClosed is what a caller who has left would get.
const StatusClosed = 499

// standard is what a caller is told where the rules do not say otherwise. OpenClaw
// tries again after 5xx and 429, compacts after an overflow, shows other 4xx to
// its user at once, and after 401, 402 or 403 disables the provider for every
// session: none of these three ever leaves.
func standard(fault ruleset.Fault, why, log string) *openai.Error {
	switch fault {
	case ruleset.HarmonyError:
		e := openai.UpstreamFailed("The model server could not read what the model wrote; try again.", log)
		e.Code = "harmony_error"
		return e
	case ruleset.StreamError:
		return openai.UpstreamFailed("The model server broke off its answer: "+why, log)
	case ruleset.Overflow:
		return openai.Overflow(why, log)
	case ruleset.Auth:
		return openai.UpstreamAuth(log)
	case ruleset.Missing:
		return &openai.Error{Status: http.StatusNotFound, Type: "invalid_request_error",
			Code: "model_not_found", Param: "model",
			Message: "The model server does not have this model: " + why, Log: log}
	case ruleset.RateLimited:
		e := openai.RateLimited(0)
		e.Log = log
		return e
	case ruleset.Rejected:
		return &openai.Error{Status: http.StatusBadRequest, Type: "invalid_request_error", Log: log,
			Message: "The model server rejects the request: " + why}
	case ruleset.Unreachable:
		return openai.UpstreamUnreachable(log, 2*time.Second)
	case ruleset.Away:
		return openai.UpstreamAway(log)
	case ruleset.Timeout:
		return openai.UpstreamTimeout(why, log)
	}
	return openai.UpstreamFailed("The model server failed; try again.", log)
}

// failure is the standard words, and the rules' own where they have some. why is
// fit for the caller, log for the operator.
func failure(set *ruleset.Set, fault ruleset.Fault, why, log string) *Failure {
	e, r := standard(fault, why, log), set.Recovery.For(fault)
	if r.Status >= http.StatusBadRequest {
		e.Status = r.Status
	}
	e.Type = cmp.Or(r.Type, e.Type)
	e.Code = cmp.Or(r.Code, e.Code)
	if r.Message.Value != "" {
		e.Message = strings.ReplaceAll(r.Message.Value, "{why}", why)
	}
	if r.RetryAfter > 0 {
		e.RetryAfter = r.RetryAfter
	}
	return &Failure{Fault: fault, Why: why, Say: e}
}

// Broken is the failure of a reply that broke off or cannot be read. What err says is fit for the caller.
func (c *Client) Broken(set *ruleset.Set, err error) *Failure {
	var f *Failure
	if !errors.As(err, &f) {
		f = failure(set, ruleset.StreamError, err.Error(), err.Error())
		c.keepSecret(f)
	}
	return f
}

// Unavailable is the failure of a request for which there is no server to ask before so much
// time has passed. away says that none could be reached for long: to wait does not help then.
func Unavailable(set *ruleset.Set, why string, wait time.Duration, away bool) *Failure {
	if away {
		return failure(set, ruleset.Away, why, why)
	}
	f := failure(set, ruleset.Unreachable, why, why)
	f.Say.RetryAfter = wait
	return f
}

// unanswered is the failure behind an error of the network, or of our own limits.
func unanswered(set *ruleset.Set, err error) *Failure {
	for _, own := range []struct {
		cause error
		fault ruleset.Fault
	}{
		{errFirstByte, ruleset.Timeout},
		{errGone, ruleset.Timeout},
		{errIdle, ruleset.Timeout},
		{context.DeadlineExceeded, ruleset.Timeout},
		{errTooLarge, ruleset.StreamError},
	} {
		if errors.Is(err, own.cause) {
			return failure(set, own.fault, own.cause.Error(), err.Error())
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &Failure{Fault: ruleset.StreamError, Say: &openai.Error{
			Status: StatusClosed, Type: "invalid_request_error", Code: "cancelled",
			Message: "The caller ended the request.", Log: err.Error(),
		}}
	case errors.Is(err, errBrokeOff):
		return failure(set, ruleset.StreamError, errBrokeOff.Error(), err.Error())
	}
	if o := obstacleOf(err); o != nil {
		return failure(set, ruleset.Unreachable, o.Why, err.Error()+"; "+o.Fix)
	}
	return failure(set, ruleset.Unreachable, "no connection", err.Error())
}
