package openai

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
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
	Retry      string // words that make the agent retry, added by Late
}

func (e *Error) Error() string { return e.Message }

// Body is {"error":{"message","type","param","code"}}.
func (e *Error) Body() []byte { return append(e.body(e.Message), "}}"...) }

// Event returns the body of an error after the header of a stream, where callers read neither status nor
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

// Late returns the message of an error after the header of a stream. If a later request may succeed, it
// says so in the words that agents look for which read no status: pi and opencode for these, Codex for the
// time.
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

func (e *Error) seconds() int64 { return int64(math.Ceil(e.RetryAfter.Seconds())) }

func appendNullable(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return AppendString(dst, s)
}

// Respond answers with status, Retry-After and body.
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

// InvalidRequest is 400: the request cannot be used. param names the member, or is "".
func InvalidRequest(param, message string) *Error {
	return &Error{Status: http.StatusBadRequest, Type: typeRequest, Param: param, Message: message}
}

// Unauthorized is 401: the caller's token is missing or wrong. It must never stand for a bad key of the
// upstream, since OpenClaw disables the provider then.
func Unauthorized() *Error {
	return &Error{Status: http.StatusUnauthorized, Type: typeAuth, Code: "invalid_api_key",
		Message: "This server needs its token in the header Authorization: Bearer …; none or another one was sent."}
}

// Forbidden is 403: the request came in a way that is not accepted.
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

// Overflow is 400: the conversation is too long. A message in vLLM's words makes OpenClaw compact it and
// retry; others end its turn.
func Overflow(message, log string) *Error {
	return &Error{Status: http.StatusBadRequest, Type: typeRequest, Code: OverflowCode, Param: "messages",
		Message: message, Log: log}
}

// RunsLimited is 429: too many runs are going on.
func RunsLimited() *Error {
	return &Error{Status: http.StatusTooManyRequests, Type: typeRate, Code: "run_limit_exceeded",
		RetryAfter: 5 * time.Second,
		Message:    "This server has as many runs as it may; try again later."}
}

// RunElsewhere is 503: another process goes on with the run, which has changed nothing yet.
func RunElsewhere() *Error {
	return &Error{Status: http.StatusServiceUnavailable, Type: typeServer, Code: "run_elsewhere",
		RetryAfter: 5 * time.Second,
		Message:    "Another process of this server goes on with this request; try again later."}
}

// RunTimeout is 504: the run took too long and has changed nothing.
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

// SessionLimited is 429: the session has too many requests. OpenClaw waits and retries.
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

// UpstreamAway is 424: the upstream has been unreachable for so long that a caller should not retry.
func UpstreamAway(log string) *Error {
	return &Error{Status: http.StatusFailedDependency, Type: typeRequest, Code: "upstream_away", Log: log,
		Message: "The model server cannot be reached; its operator has to start it, or set the right address."}
}

// UpstreamAuth is 424: the upstream rejected this server's key. With its 401, 402 or 403 OpenClaw would
// blame the caller's key, and with 5xx retry.
func UpstreamAuth(log string) *Error {
	return &Error{Status: http.StatusFailedDependency, Type: typeRequest, Code: "upstream_auth", Log: log,
		Message: "The model server refused this server's credentials; its operator has to mend that."}
}

// UpstreamFailed is 502: the upstream sent an error or no valid answer. message is for the caller.
func UpstreamFailed(message, log string) *Error {
	return &Error{Status: http.StatusBadGateway, Type: typeServer, Code: "upstream_error", Message: message,
		Log: log}
}

// UpstreamTimeout is 504: the upstream was silent for too long. why is for the caller.
func UpstreamTimeout(why, log string) *Error {
	return &Error{Status: http.StatusGatewayTimeout, Type: typeServer, Code: "upstream_timeout", Log: log,
		Message: "The model server is silent for too long: " + why}
}

// Overloaded is 503: this server has too many requests.
func Overloaded(after time.Duration) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Type: typeServer, Code: "overloaded",
		RetryAfter: after,
		Message:    "This server is busy or shutting down; try again."}
}

// Refused is 503: this server accepts no requests for now. OpenClaw waits and retries.
func Refused(why string, after time.Duration) *Error {
	e := Overloaded(after)
	e.Message = "This server takes no more requests for now: " + why + "; try again later."
	return e
}

// Internal is 500: a fault of this program.
func Internal(log string) *Error {
	return &Error{Status: http.StatusInternalServerError, Type: typeServer, Code: "internal_error", Log: log,
		Message: "This server made a mistake; its log says which."}
}

// NotJSON is the error of a body in which a scan failed with err. This and the next functions name what is
// wrong with a request, and where; all are 400.
func NotJSON(body []byte, err error) *Error {
	var deep *jsontext.SyntaxError
	if errors.As(err, &deep) && deep.Why == jsontext.TooDeep {
		return InvalidRequest("",
			fmt.Sprintf("The request body is nested deeper than %d levels, more than is read (%s).",
				jsontext.MaxDepth, place(body, deep.Offset)))
	}
	return InvalidRequest("", "The request body is not valid JSON: "+explain(body, err))
}

// NotUTF8 is the error of a body that is not UTF-8.
func NotUTF8(body []byte) *Error {
	at := 0
	for r, n := utf8.DecodeRune(body); r != utf8.RuneError || n > 1; r, n = utf8.DecodeRune(body[at:]) {
		at += n
	}
	return InvalidRequest("", "The request body is not valid UTF-8 ("+place(body, at)+").")
}

// NoObject is the error of a body that is another value.
func NoObject(body []byte, at Span) *Error {
	return InvalidRequest("", "The request body must be a JSON object, not "+kindOf(body, at)+".")
}

// Wrong is the error of a value of the wrong kind.
func Wrong(body []byte, at Span, must, param string) *Error {
	return InvalidRequest(param, fmt.Sprintf("%s must be %s, not %s (%s).", param, must, kindOf(body, at),
		place(body, at.From)))
}

// Missing is the error of an object that lacks a member.
func Missing(body []byte, at Span, param string) *Error {
	return InvalidRequest(param, fmt.Sprintf("%s is missing (%s).", param, place(body, at.From)))
}

// kindOf names the JSON type of a value.
func kindOf(doc []byte, at Span) string {
	switch doc[at.From] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	if at.To-at.From > 20 {
		return "a number"
	}
	return "the number " + string(at.Of(doc))
}

// outdated is the error of a member that another one replaced long ago.
func outdated(param, instead string, body []byte, at Span) *Error {
	return InvalidRequest(param, fmt.Sprintf("%s is the form of before %s and is not read; send %s (%s).",
		param, instead, instead, place(body, at.From)))
}
