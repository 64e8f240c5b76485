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
	Streams bool // who asks reads a stream, too, where a whole reply is asked for
	Retries int
	End     time.Time // no retry begins after it
	// another server waits: this one is only asked again, once and at once, if a connection broke
	Next bool
	// the head of a stream leaves then, and with it the status that the caller could have; zero: never
	Head time.Time
}

// tells reports that a status must go to the caller now, since it could not after this wait: a server asks
// for patience, and the caller, who has its Retry-After, can wait as well.
func (b *Budget) tells(res *http.Response, wait time.Duration) bool {
	if res == nil || res.Header.Get("Retry-After") == "" {
		return false
	}
	now := time.Now()
	return now.Before(b.Head) && !now.Add(wait).Before(b.Head)
}

// Retries are those that the limits give to a request that begins now.
func Retries(lim *ruleset.Limits) Budget {
	return Budget{Retries: lim.Retries, End: time.Now().Add(lim.RetryBudget)}
}

// attempts decides over the retries of one request.
type attempts struct {
	log *slog.Logger
	lim *ruleset.Limits
	Budget
	made int
	wait time.Duration // before the next one
}

func newAttempts(log *slog.Logger, lim *ruleset.Limits, b Budget) *attempts {
	return &attempts{log: log, lim: lim, Budget: b}
}

// check is retryablehttp's CheckRetry. A chat completion has no side effects, so
// whatever came to nothing before the head of an answer may be sent again,
// unless waiting for it is what failed.
func (a *attempts) check(ctx context.Context, res *http.Response, err error) (bool, error) {
	a.made++
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if a.Next {
		a.wait = 0
		return a.made <= a.Retries && err != nil && passing(err) && !dialing(err), nil
	}
	if err != nil && !passing(err) || err == nil && !busy(res.StatusCode) {
		return false, nil
	}
	a.wait = a.pause(res)
	if a.wait > a.lim.RetryMax || time.Now().Add(a.wait).After(a.End) || a.tells(res, a.wait) {
		return false, nil // the caller knows better what to do with so long a wait
	}
	if a.made <= a.Retries {
		a.log.WarnContext(ctx, "the model server is asked again", "event",
			"retrying_gpt_oss_call", "attempt", a.made+1, "wait", a.wait, "status", status(res), "error", err)
	}
	return true, nil
}

// backoff is retryablehttp's Backoff; check has done the thinking.
func (a *attempts) backoff(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return a.wait }

// pause is what the upstream asks for, or a doubling wait of which the upper
// half is random, so that callers who failed together do not return together.
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

// passing reports a failure to get an answer that the next attempt may not see:
// refused, reset, or a kept connection that the server had closed.
func passing(err error) bool {
	if obstacleOf(err) != nil {
		return false
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return !dns.IsNotFound
	}
	if dialing(err) {
		return true
	}
	var slow net.Error
	return !errors.As(err, &slow) || !slow.Timeout()
}

// plain reports that what answered does not speak TLS.
func plain(err error) bool {
	var record tls.RecordHeaderError
	return errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &record)
}

// dialing reports that no connection came about: the server had nothing of the request.
func dialing(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// busy reports a status by which a server or the proxy before it asks for
// patience.
func busy(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return true
	}
	return false
}

// retryAfter reads the Retry-After header: seconds, or a date.
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
