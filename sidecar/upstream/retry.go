package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
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
