package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

// Failure is a request without an answer, or an answer that broke off. Fault decides what is done; Say is
// what the caller is told if nothing helps. errors.As finds its *openai.Error.
type Failure struct {
	Fault ruleset.Fault
	Why   string // what the upstream said and a hint of the rules, fit for the caller
	Say   *openai.Error

	NoTools bool // the server cannot call tools
	Retried bool // the request was sent again, as limits.yaml says

	noAPI bool // nothing serves the path of the server's own API

	fits int // tokens left for the reply where max_tokens was more; else 0
}

func (f *Failure) Error() string { return string(f.Fault) + ": " + f.Say.Message }

// Unwrap returns the *openai.Error.
func (f *Failure) Unwrap() error { return f.Say }

// StatusClosed is the status for a caller that has left.
const StatusClosed = 499

// defaultError is what a caller is told without other rules. OpenClaw retries after 5xx and 429, compacts
// after an overflow, shows other 4xx to its user, and after 401, 402 or 403 disables the provider for every
// session: these three never leave.
func defaultError(fault ruleset.Fault, why, log string) *openai.Error {
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

// newFailure returns the default error with the changes of the rules. why is for the caller, log for the
// operator.
func newFailure(set *ruleset.Set, fault ruleset.Fault, why, log string) *Failure {
	e, r := defaultError(fault, why, log), set.Recovery.For(fault)
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

// Broken returns the failure of a reply that broke off or cannot be read. The text of err is fit for the
// caller.
func (c *Client) Broken(set *ruleset.Set, err error) *Failure {
	var f *Failure
	if !errors.As(err, &f) {
		f = newFailure(set, ruleset.StreamError, err.Error(), err.Error())
		c.hideKey(f)
	}
	return f
}

// Unavailable returns the failure of a request that no server may be asked before wait has passed. away
// means that none could be reached for long, so that waiting does not help.
func Unavailable(set *ruleset.Set, why string, wait time.Duration, away bool) *Failure {
	if away {
		return newFailure(set, ruleset.Away, why, why)
	}
	f := newFailure(set, ruleset.Unreachable, why, why)
	f.Say.RetryAfter = wait
	return f
}

// unanswered returns the failure for an error of the network or of our own limits.
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
			return newFailure(set, own.fault, own.cause.Error(), err.Error())
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &Failure{Fault: ruleset.StreamError, Say: &openai.Error{
			Status: StatusClosed, Type: "invalid_request_error", Code: "cancelled",
			Message: "The caller ended the request.", Log: err.Error(),
		}}
	case errors.Is(err, errBrokeOff):
		return newFailure(set, ruleset.StreamError, errBrokeOff.Error(), err.Error())
	}
	if o := obstacleOf(err); o != nil {
		return newFailure(set, ruleset.Unreachable, o.Why, err.Error()+"; "+o.Fix)
	}
	return newFailure(set, ruleset.Unreachable, "no connection", err.Error())
}

// Answer is an error as the upstream sent it.
type Answer struct {
	Status int         // 0: inside a 200 stream, where its own code counts, else 500
	Header http.Header // may be nil
	Body   []byte
	Window int // context in tokens; 0: unknown
}

// Classify returns the kind of an error and what the caller is told. It knows the forms of all servers and
// the texts of srv.
func Classify(set *ruleset.Set, srv *ruleset.Server, a Answer) *Failure {
	fault := readFault(a.Body)
	if a.Status == 0 {
		a.Status = http.StatusInternalServerError
		if code, err := strconv.Atoi(fault.Code); err == nil && code >= 400 && code < 600 {
			a.Status = code
		}
	}
	log := fmt.Sprintf("upstream HTTP %d: %s", a.Status, cut(fault.Message, 2000))
	why := sentence(redact(fault.Message), a.Status)
	f := newFailure(set, faultOf(srv, a.Status, fault), why, log)
	switch f.Fault {
	case ruleset.Overflow:
		n := overflowNumbers(srv, a, fault)
		f = newFailure(set, ruleset.Overflow, n.sentence(redact(fault.Message)), log)
		f.fits = n.fits
	case ruleset.Missing:
		if !strings.Contains(strings.ToLower(fault.Message), "model") {
			f = newFailure(set, ruleset.ServerError, why, log+" (is the upstream URL right?)")
		}
	}
	if d, ok := retryAfter(a.Header); ok && d > 0 { // else what the rules say: at once is now
		f.Say.RetryAfter = d
	}
	f.NoTools = match(srv.NoTools, fault.Message) != nil
	f.hint(srv, fault.Message)
	return f
}

// faultOf looks at the text before most statuses: servers send the same error with 400, 500 and 200.
func faultOf(srv *ruleset.Server, status int, fault openai.Fault) ruleset.Fault {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		return ruleset.Auth
	case http.StatusTooManyRequests:
		return ruleset.RateLimited
	}
	switch {
	case fault.Code == "context_length_exceeded", fault.Type == "exceed_context_size_error",
		match(srv.Overflow, fault.Message) != nil, match(srv.OutputTooLarge, fault.Message) != nil:
		return ruleset.Overflow
	case match(srv.BadRequest, fault.Message) != nil:
		return ruleset.Rejected
	case match(srv.Retry, fault.Message) != nil:
		return ruleset.HarmonyError
	case status == http.StatusNotFound:
		return ruleset.Missing
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return ruleset.Timeout
	case status >= 400 && status < 500:
		return ruleset.Rejected
	}
	return ruleset.ServerError
}

// sentence ends the upstream's text so that another sentence can follow.
func sentence(text string, status int) string {
	if text == "" {
		return fmt.Sprintf("HTTP %d.", status)
	}
	if strings.HasSuffix(text, "…") || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// hint adds what an operator can do. Operators often read it through the caller, so it is in all texts;
// rules hold no secrets.
func (f *Failure) hint(srv *ruleset.Server, text string) {
	for _, h := range srv.Hints {
		if h.Match == nil || !h.Match.MatchString(text) {
			continue
		}
		f.Why += " " + h.Say
		f.Say.Log += " (" + h.Say + ")"
		f.Say.Message += " " + h.Say
		if h.Status != 0 {
			f.Say.Status = h.Status
		}
		return
	}
}

// match returns the named submatches of the first pattern that fits.
func match(patterns []ruleset.Pattern, text string) map[string]string {
	for _, p := range patterns {
		if groups := submatches(p.Match, text); groups != nil {
			return groups
		}
	}
	return nil
}

func submatches(re *regexp.Regexp, text string) map[string]string {
	found := re.FindStringSubmatch(text)
	if found == nil {
		return nil
	}
	groups := make(map[string]string, len(found))
	for i, name := range re.SubexpNames() {
		if name != "" {
			groups[name] = found[i]
		}
	}
	return groups
}

// readFault finds the error in a body: JSON of any server's form, an event of a stream, or plain text.
func readFault(body []byte) openai.Fault {
	text := strings.TrimSpace(string(body))
	if data, ok := strings.CutPrefix(text, "data:"); ok {
		text, _, _ = strings.Cut(data, "\n")
		text = strings.TrimSpace(text)
	}
	if f, ok := openai.ReadFault([]byte(text)); ok {
		return f
	}
	if doc := gjson.Parse(text); doc.Type == gjson.String && gjson.Valid(text) {
		return readFault([]byte(doc.String()))
	}
	if title := titleTag.FindStringSubmatch(text); title != nil {
		text = title[1] // a proxy's error page
	}
	return openai.Fault{Message: text}
}

var titleTag = regexp.MustCompile(`(?is)<title>\s*(.*?)\s*</title>`)

// overflow is what is known of a request that was too long, in tokens; 0: unknown.
type overflow struct {
	limit, requested, prompt, output int
	fits                             int // output that would fit, where only the output was too long
}

// overflowNumbers reads the numbers from the text, the body's own fields (llama.cpp) and the probe results,
// in this order.
func overflowNumbers(srv *ruleset.Server, a Answer, fault openai.Fault) overflow {
	groups := match(srv.Overflow, fault.Message)
	tooLarge := match(srv.OutputTooLarge, fault.Message)
	if tooLarge != nil {
		groups = tooLarge
	}
	number := func(group string) int {
		n, _ := strconv.Atoi(strings.ReplaceAll(groups[group], ",", ""))
		return n
	}
	n := overflow{limit: number("limit"), requested: number("requested"), prompt: number("prompt"),
		output: number("output")}
	n.limit = cmp.Or(n.limit, int(gjson.GetBytes(a.Body, "error.n_ctx").Int()), a.Window)
	n.prompt = cmp.Or(n.prompt, int(gjson.GetBytes(a.Body, "error.n_prompt_tokens").Int()))
	n.requested = cmp.Or(n.requested, n.prompt+n.output)
	if tooLarge != nil && n.prompt > 0 && n.limit-n.prompt >= leastOutput {
		n.fits = n.limit - n.prompt
	}
	return n
}

// leastOutput is the smallest useful limit for a reply, in tokens: with less it would end inside its
// reasoning.
const leastOutput = 1024

// sentence returns vLLM's wording, by which OpenClaw knows that it must compact, and the upstream's text
// after it.
func (n overflow) sentence(text string) string {
	const known = "This model's maximum context length is "
	if at := strings.Index(text, known); at >= 0 && n.limit > 0 {
		return text[at:]
	}
	if n.limit <= 0 {
		return "This request is longer than the model's maximum context length (context_length_exceeded). " +
			text
	}
	asked := "more"
	if n.requested > 0 {
		asked = strconv.Itoa(n.requested) + " tokens"
	}
	if n.prompt > 0 && n.output > 0 {
		asked += fmt.Sprintf(" (%d in the messages, %d in the completion)", n.prompt, n.output)
	}
	return fmt.Sprintf("%s%d tokens. However, you requested %s. Please reduce the length of the messages. %s",
		known, n.limit, asked, sentence(text, http.StatusBadRequest))
}

// capTokens lowers the limits on the reply in a request.
func capTokens(body []byte, most int) []byte {
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if gjson.GetBytes(body, name).Int() <= int64(most) {
			continue
		}
		if lower, err := sjson.SetBytes(body, name, most); err == nil {
			body = lower
		}
	}
	return body
}

// secretPatterns match what callers must not see of an upstream's text.
var secretPatterns = []struct {
	match *regexp.Regexp
	put   string
}{
	{regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://[^\s"'<>]+`), "[address]"},
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[\w.~+/=-]{6,}`), "[key]"},
	{regexp.MustCompile(`\b(sk|hf|gsk|pk|nvapi|xai|key)[-_][\w-]{6,}`), "[key]"},
	{regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b`), "[address]"},
	{regexp.MustCompile(`\[[0-9a-fA-F:]*::?[0-9a-fA-F:]+\](:\d+)?`), "[address]"},
	{regexp.MustCompile(`\b(localhost|[\w-]+(\.[\w-]+)*\.(local|internal|lan|svc|cluster))(:\d+)?\b`), "[address]"},
	{regexp.MustCompile(`\b[\w-]+(\.[\w-]+)+:\d{2,5}\b`), "[address]"},
	{regexp.MustCompile(`(?i)\b(tcp|host|server|upstream|connect|dial|reach|from|to|at)\s+[a-z][\w-]*:\d{2,5}\b`), "$1 [address]"},
	{regexp.MustCompile(`(?:^|[\s"'(=])(?:/[\w.@+-]+){2,}/?`), " [path]"},
	{regexp.MustCompile(`\b[A-Za-z]:\\[^\s"']+`), "[path]"},
}

// redact returns an upstream's text for a caller: one line of at most 400 bytes without addresses, keys and
// paths.
func redact(text string) string {
	text = cut(text, 4096) // bounds the work below
	for _, s := range secretPatterns {
		text = s.match.ReplaceAllString(text, s.put)
	}
	text = secrets.Forms(text, func(string, string) string { return "[key]" })
	return cut(strings.Join(strings.Fields(text), " "), 400)
}

// cut shortens text to n bytes, between characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return scan.Head(text, n) + "…"
}

// Reason returns why a server cannot be reached in the system's words, without addresses.
func Reason(err error) string {
	var name *net.DNSError
	var cause syscall.Errno
	var slow net.Error
	switch {
	case errors.As(err, &name):
		return name.Err
	case errors.As(err, &cause):
		return cause.Error()
	case errors.As(err, &slow) && slow.Timeout():
		return "no answer in time"
	}
	return redact(withoutURL(err).Error())
}
