package openai

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The values of error.type.
const (
	typeRequest = "invalid_request_error"
	typeAuth    = "authentication_error"
	typeRate    = "rate_limit_error"
	typeServer  = "server_error"
)

// Error is what a caller is told when a request fails.
type Error struct {
	Status     int    // HTTP status
	Type       string // error.type, for example invalid_request_error
	Code       string // error.code; "" is null
	Param      string // error.param, for example messages[2].content; "" is null
	Message    string // for the caller; no addresses, no keys
	Log        string // for the operator only; never sent
	RetryAfter time.Duration
	Retry      string // words by which the agent tries again, for Late; "": those of Late
}

func (e *Error) Error() string { return e.Message }

// Body is {"error":{"message","type","param","code"}}.
func (e *Error) Body() []byte { return append(e.body(e.Message), "}}"...) }

// Event is the body of an error behind the head of a stream, where a caller reads neither a status nor
// Retry-After: the message is Late, and retry_after has the seconds.
func (e *Error) Event() []byte {
	dst := e.body(e.Late())
	if e.RetryAfter > 0 {
		dst = strconv.AppendInt(append(dst, `,"retry_after":`...), e.seconds(), 10)
	}
	return append(dst, "}}"...)
}

func (e *Error) body(message string) []byte {
	dst := AppendString([]byte(`{"error":{"message":`), message)
	dst = AppendString(append(dst, `,"type":`...), e.Type)
	dst = appendNullable(append(dst, `,"param":`...), e.Param)
	return appendNullable(append(dst, `,"code":`...), e.Code)
}

// Late is the message of an error behind the head of a stream. Where the same request may do better later, it
// says so in the words by which agents try again that read no status: pi and opencode look for them, and
// Codex for the time.
func (e *Error) Late() string {
	kind := ""
	switch {
	case e.Status == http.StatusTooManyRequests:
		kind = "rate limit"
	case e.Status >= http.StatusInternalServerError:
		kind = "server error"
	default:
		return e.Message
	}
	late := fmt.Sprintf("%s (%d %s: you can retry your request", e.Message, e.Status, kind)
	if e.RetryAfter > 0 {
		late += fmt.Sprintf(", try again in %d s", e.seconds())
	}
	if e.Retry != "" && !strings.Contains(strings.ToLower(late), strings.ToLower(e.Retry)) {
		late += "; " + e.Retry
	}
	return late + ")"
}

// seconds is how long the caller is asked to wait.
func (e *Error) seconds() int64 { return int64(math.Ceil(e.RetryAfter.Seconds())) }

func appendNullable(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return AppendString(dst, s)
}

// Respond answers w with the error: status, Retry-After, body.
func (e *Error) Respond(w http.ResponseWriter) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(e.seconds(), 10))
	}
	w.WriteHeader(e.Status)
	_, err := w.Write(e.Body())
	return err
}

// InvalidRequest is 400: what the caller sent cannot be used. param names the
// field, or is "".
func InvalidRequest(param, message string) *Error {
	return &Error{Status: http.StatusBadRequest, Type: typeRequest, Param: param, Message: message}
}

// Unauthorized is 401: the caller's own token is missing or wrong. It must never
// stand for a bad key of the upstream: OpenClaw switches the provider off.
func Unauthorized() *Error {
	return &Error{Status: http.StatusUnauthorized, Type: typeAuth, Code: "invalid_api_key",
		Message: "This server needs its token in the header Authorization: Bearer …; none or another one was sent."}
}

// Forbidden is 403: this server does not take requests that come so.
func Forbidden(message string) *Error {
	return &Error{Status: http.StatusForbidden, Type: typeRequest, Code: "forbidden", Message: message}
}

// ModelNotFound is 404.
func ModelNotFound(model string) *Error {
	return &Error{Status: http.StatusNotFound, Type: typeRequest, Code: "model_not_found", Param: "model",
		Message: fmt.Sprintf("The model %q does not exist here; GET /v1/models lists those that do.", model)}
}

// ModelNotServed is 404: the model server lists other models.
func ModelNotServed(model string, listed []string) *Error {
	const most = 20
	list := strings.Join(listed[:min(len(listed), most)], ", ")
	if more := len(listed) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return &Error{Status: http.StatusNotFound, Type: typeRequest, Code: "model_not_found", Param: "model",
		Message: fmt.Sprintf("The model server has no model that fits %q. It lists: %s. Set its name in models.yaml.", model, list),
		Log:     fmt.Sprintf("no model fits %q; the model server lists %s", model, list)}
}

// TooLarge is 413: the request body has more than limit bytes.
func TooLarge(limit int64) *Error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Type: typeRequest, Code: "request_too_large",
		Message: fmt.Sprintf("The request body is larger than %d bytes.", limit)}
}

// Encoded is 415: the request body is compressed.
func Encoded() *Error {
	return &Error{Status: http.StatusUnsupportedMediaType, Type: typeRequest, Param: "Content-Encoding",
		Message: "The request body is compressed, as its header Content-Encoding says, and this server reads plain JSON alone. Send it uncompressed, without that header."}
}

// OverflowCode is the code of an Overflow.
const OverflowCode = "context_length_exceeded"

// Overflow is 400: the conversation is too long. A message in the words of vLLM makes OpenClaw
// compact it and try again; other words end its turn.
func Overflow(message, log string) *Error {
	return &Error{Status: http.StatusBadRequest, Type: typeRequest, Code: OverflowCode, Param: "messages",
		Message: message, Log: log}
}

// RunsLimited is 429: as many runs go on as may.
func RunsLimited() *Error {
	return &Error{Status: http.StatusTooManyRequests, Type: typeRate, Code: "run_limit_exceeded",
		RetryAfter: 5 * time.Second,
		Message:    "This server has as many runs as it may; try again later."}
}

// RunElsewhere is 503: the run of this request goes on in another process. It has changed nothing yet.
func RunElsewhere() *Error {
	return &Error{Status: http.StatusServiceUnavailable, Type: typeServer, Code: "run_elsewhere",
		RetryAfter: 5 * time.Second,
		Message:    "Another process of this server goes on with this request; try again later."}
}

// RunTimeout is 504: the time of a run is over, and it has changed nothing.
func RunTimeout(after time.Duration) *Error {
	return &Error{Status: http.StatusGatewayTimeout, Type: typeServer, Code: "timeout_exceeded",
		Message: fmt.Sprintf("The run took longer than %s, and was ended before it had changed anything.",
			after)}
}

// RateLimited is 429, with the time the upstream asks for.
func RateLimited(after time.Duration) *Error {
	return &Error{Status: http.StatusTooManyRequests, Type: typeRate, Code: "rate_limit_exceeded",
		RetryAfter: after,
		Message:    "The model server has too many requests; try again later."}
}

// SessionLimited is 429: the session of the caller asks too much of this server.
// OpenClaw waits and asks again.
func SessionLimited(after time.Duration) *Error {
	return &Error{Status: http.StatusTooManyRequests, Type: typeRate, Code: "session_limit_exceeded",
		RetryAfter: after,
		Message:    "This session has too many requests; try again later."}
}

// UpstreamUnreachable is 503: refused, no such host, or all upstreams down.
func UpstreamUnreachable(log string, after time.Duration) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Type: typeServer, Code: "upstream_unreachable",
		Log:        log,
		RetryAfter: after, Message: "The model server cannot be reached; try again later."}
}

// UpstreamAway is 424: the upstream cannot be reached for so long that a caller need not
// try again by itself.
func UpstreamAway(log string) *Error {
	return &Error{Status: http.StatusFailedDependency, Type: typeRequest, Code: "upstream_away", Log: log,
		Message: "The model server cannot be reached; its operator has to start it, or set the right address."}
}

// UpstreamAuth is 424: the upstream refused this server's own key (401, 402 or 403 there).
// Those statuses would make OpenClaw blame the caller's key, and 5xx make it try again.
func UpstreamAuth(log string) *Error {
	return &Error{Status: http.StatusFailedDependency, Type: typeRequest, Code: "upstream_auth", Log: log,
		Message: "The model server refused this server's credentials; its operator has to mend that."}
}

// UpstreamFailed is 502: the upstream answered with an error, or with something
// that is no answer. message is for the caller.
func UpstreamFailed(message, log string) *Error {
	return &Error{Status: http.StatusBadGateway, Type: typeServer, Code: "upstream_error", Message: message,
		Log: log}
}

// UpstreamTimeout is 504: no byte for as long as we wait. why is for the caller.
func UpstreamTimeout(why, log string) *Error {
	return &Error{Status: http.StatusGatewayTimeout, Type: typeServer, Code: "upstream_timeout", Log: log,
		Message: "The model server is silent for too long: " + why}
}

// Overloaded is 503: this server has as many requests as it may.
func Overloaded(after time.Duration) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Type: typeServer, Code: "overloaded",
		RetryAfter: after,
		Message:    "This server is busy or shutting down; try again."}
}

// Refused is 503: this server takes no more requests for now, and says why. OpenClaw waits and asks again.
func Refused(why string, after time.Duration) *Error {
	e := Overloaded(after)
	e.Message = "This server takes no more requests for now: " + why + "; try again later."
	return e
}

// Internal is 500: a mistake of this program.
func Internal(log string) *Error {
	return &Error{Status: http.StatusInternalServerError, Type: typeServer, Code: "internal_error", Log: log,
		Message: "This server made a mistake; its log says which."}
}
