package upstream

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// Budget is how often a request may be sent again, and until when.
type Budget struct {
	Streams bool // the caller reads streams, too, where a whole reply is asked for
	Retries int
	End     time.Time // no retry begins later
	// Next means that another server waits: this one is asked again only once and at once, if a connection
	// broke.
	Next bool
	// Head is when the header of a stream leaves, and with it the chance to send a status; zero: never.
	Head time.Time
}

// mustTell reports whether a status must go to the caller now, since it could not after this wait. A caller
// that gets the server's Retry-After can wait as well.
func (b *Budget) mustTell(res *http.Response, wait time.Duration) bool {
	if res == nil || res.Header.Get("Retry-After") == "" {
		return false
	}
	now := time.Now()
	return now.Before(b.Head) && !now.Add(wait).Before(b.Head)
}

// Retries returns the budget of a request that begins now.
func Retries(lim *ruleset.Limits) Budget {
	return Budget{Retries: lim.Retries, End: time.Now().Add(lim.RetryBudget)}
}

// attempts decides on the retries of one request.
type attempts struct {
	log *slog.Logger
	lim *ruleset.Limits
	Budget
	made int
	wait time.Duration // before the next attempt
}

// check implements retryablehttp.CheckRetry. A chat completion has no side effects, so any failure before
// an answer begins may be retried, unless waiting for it is what failed.
func (a *attempts) check(ctx context.Context, res *http.Response, err error) (bool, error) {
	a.made++
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if a.Next {
		a.wait = 0
		return a.made <= a.Retries && err != nil && temporary(err) && !failedToDial(err), nil
	}
	if err != nil && !temporary(err) || err == nil && !busy(res.StatusCode) {
		return false, nil
	}
	a.wait = a.pause(res)
	if a.wait > a.lim.RetryMax || time.Now().Add(a.wait).After(a.End) || a.mustTell(res, a.wait) {
		return false, nil // the caller knows better what to do with so long a wait
	}
	if a.made <= a.Retries {
		a.log.WarnContext(ctx, "the model server is asked again", "event",
			"retrying_gpt_oss_call", "attempt", a.made+1, "wait", a.wait, "status", status(res), "error", err)
	}
	return true, nil
}

// backoff implements retryablehttp.Backoff with the wait that check chose.
func (a *attempts) backoff(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return a.wait }

// pause returns the wait that the upstream asks for, or a doubling one whose upper half is random, so that
// callers that failed together do not return together.
func (a *attempts) pause(res *http.Response) time.Duration {
	if res != nil {
		if d, ok := retryAfter(res.Header); ok {
			return d
		}
	}
	d := min(a.lim.RetryMin<<min(a.made-1, 16), a.lim.RetryMax)
	if d <= 0 {
		return 0
	}
	return d/2 + rand.N(d/2+1)
}

// temporary reports whether the next attempt may not fail like this: refused, reset, or a kept connection
// that the server had closed.
func temporary(err error) bool {
	if obstacleOf(err) != nil {
		return false
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return !dns.IsNotFound
	}
	if failedToDial(err) {
		return true
	}
	var slow net.Error
	return !errors.As(err, &slow) || !slow.Timeout()
}

// speaksPlain reports whether the server does not speak TLS.
func speaksPlain(err error) bool {
	var record tls.RecordHeaderError
	return errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &record)
}

// failedToDial reports whether there was no connection, so that the server got nothing.
func failedToDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// busy reports whether a status asks for patience.
func busy(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return true
	}
	return false
}

// retryAfter reads the Retry-After header, seconds or a date.
func retryAfter(h http.Header) (time.Duration, bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil && s >= 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second)), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at)), true
	}
	return 0, false
}

func status(res *http.Response) int {
	if res == nil {
		return 0
	}
	return res.StatusCode
}

// Recovered is generated text in an error body, as some servers quote the model's call when they reject it.
// Either Text or Calls is set.
type Recovered struct {
	Text  string // to be read like the content of a reply
	Calls []RawCall
}

// RawCall is a call as the model wrote it. Name is "" if unknown.
type RawCall struct {
	Name      string
	Arguments string
}

// embeddedDepth bounds the nesting of JSON inside an error.
const embeddedDepth = 64

// Recover looks for generated text in an error body with the patterns of srv. The body may also be a JSON
// string of itself.
func Recover(srv *ruleset.Server, body []byte) (Recovered, bool) {
	text := readFault(body).Message
	for _, p := range srv.Recover {
		if p.Field != "" {
			if wrote := quotedAt(body, text, p.Field); wrote != "" {
				return parseGenerated(wrote), true
			}
			continue
		}
		if p.Match == nil {
			continue
		}
		groups := submatches(p.Match, text)
		if args := groups["args"]; args != "" {
			return Recovered{Calls: []RawCall{{Name: groups["name"], Arguments: args}}}, true
		}
		if wrote := groups["text"]; wrote != "" {
			return parseGenerated(wrote), true
		}
	}
	return Recovered{}, false
}

// quotedAt returns the string at a path of the body, or of a body that a proxy quotes in the text of its
// own error ("GroqException - {…}"), even as a Python literal.
func quotedAt(body []byte, text, path string) string {
	if s := gjson.GetBytes(body, path); s.Type == gjson.String {
		return s.String()
	}
	last := path[strings.LastIndexByte(path, '.')+1:]
	at := strings.IndexByte(text, '{')
	if at < 0 || !strings.Contains(text[at:], last) {
		return ""
	}
	inner, err := jsonrepair.Repair(text[at:], embeddedDepth)
	if err != nil {
		return ""
	}
	if s := gjson.GetBytes(inner.JSON, path); s.Type == gjson.String {
		return s.String()
	}
	return gjson.GetBytes(inner.JSON, last).String()
}

// parseGenerated turns a call object or an array of them into calls; all else stays text.
func parseGenerated(wrote string) Recovered {
	trimmed := strings.TrimSpace(wrote)
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") {
		return Recovered{Text: wrote}
	}
	if !gjson.Valid(trimmed) {
		mended, err := jsonrepair.Repair(trimmed, embeddedDepth)
		if err != nil || mended.Cut >= jsonrepair.Unended {
			return Recovered{Text: wrote}
		}
		trimmed = string(mended.JSON)
	}
	doc := gjson.Parse(trimmed)
	entries := []gjson.Result{doc}
	if doc.IsArray() {
		entries = doc.Array()
	}
	var calls []RawCall
	for _, e := range entries {
		call, ok := rawCall(e)
		if !ok {
			return Recovered{Text: wrote}
		}
		calls = append(calls, call)
	}
	if len(calls) == 0 {
		return Recovered{Text: wrote}
	}
	return Recovered{Calls: calls}
}

// rawCall reads {"name", "arguments"}, where arguments is an object or a string, also inside {"function":
// …}, and "parameters" in their place.
func rawCall(e gjson.Result) (RawCall, bool) {
	if f := e.Get("function"); f.IsObject() {
		e = f
	}
	name, args := e.Get("name"), e.Get("arguments")
	if !args.Exists() {
		args = e.Get("parameters")
	}
	if !e.IsObject() || name.Type != gjson.String || !args.Exists() {
		return RawCall{}, false
	}
	switch {
	case args.Type == gjson.String:
		return RawCall{Name: name.String(), Arguments: args.String()}, true
	case args.Type == gjson.Null:
		return RawCall{Name: name.String(), Arguments: "{}"}, true
	case json.Valid([]byte(args.Raw)):
		return RawCall{Name: name.String(), Arguments: args.Raw}, true
	}
	return RawCall{}, false
}
