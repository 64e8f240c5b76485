package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// Reply is an answer with status 200, or one made from an error body.
type Reply struct {
	Stream bool // its head says that Body is server-sent events; see Streams
	Header http.Header
	Body   io.ReadCloser // never nil; close it. Its errors are *Failure

	Recovered *Recovered // what the model wrote, found in an error body; Body is empty
	Failure   *Failure   // that error; set only with Recovered
}

// Ask posts a chat completion request, already in the dialect of srv, and tries
// again within the limits of the set while no answer has begun. waits is how long the
// caller says that it waits for us; 0: it does not say. The error is a *Failure. Ending ctx
// ends the request at once, at any stage.
func (c *Client) Ask(ctx context.Context, set *ruleset.Set, srv *ruleset.Server, body []byte,
	waits time.Duration) (*Reply, error) {
	return c.AskWithin(ctx, set, srv, body, waits, Retries(&set.Limits))
}

// AskWithin is Ask with less than all of the retries.
func (c *Client) AskWithin(ctx context.Context, set *ruleset.Set, srv *ruleset.Server, body []byte,
	waits time.Duration, b Budget) (*Reply, error) {
	reply, failed := c.post(ctx, set, srv, body, waits, b)
	if failed != nil && failed.noAPI {
		c.log.InfoContext(ctx, "the model server has chat completions alone", "event",
			"own_api_missing", "server", srv.ID.Value, "detail", failed.Say.Log)
		c.completions.Store(time.Now().Add(seenFor).UnixNano())
		reply, failed = c.post(ctx, set, srv, body, waits, b)
	}
	if failed != nil && failed.fits > 0 {
		c.log.InfoContext(ctx, "max_tokens lowered to what the context leaves", "event",
			"max_tokens_lowered", "max_tokens", failed.fits)
		reply, failed = c.post(ctx, set, srv, capTokens(body, failed.fits), waits, b)
	}
	if failed != nil {
		return nil, failed
	}
	return reply, nil
}

// post is Ask without the second request that a too large max_tokens needs.
func (c *Client) post(ctx context.Context, set *ruleset.Set, srv *ruleset.Server, body []byte,
	waits time.Duration, b Budget) (*Reply, *Failure) {
	lim := &set.Limits
	ctx, cancel := context.WithCancelCause(ctx)
	w := watchSilence(cancel, lim.Patience(lim.FirstByte, waits))
	if b.Next {
		go c.attend(ctx, cancel, w, cmp.Or(lim.ProbeTimeout, probeTimeout))
	}
	began := time.Now()
	tries, q := newAttempts(c.log, lim, b), c.question(srv, body, b.Streams)
	res, err := c.send(ctx, tries, q.to, q.body)
	if q.behind != nil && err == nil && res.StatusCode == http.StatusOK {
		if prompt, ok := q.rendered(res, int64(lim.ReplyBytes)); ok {
			res.Body.Close()
			q = q.behind(prompt)
			res, err = c.send(ctx, tries, q.to, q.body)
		}
	}
	if err == nil {
		c.contact.made()
		kind := mediaType(res.Header.Get("Content-Type"))
		if res.StatusCode == http.StatusOK && kind != "text/html" {
			reply := &Reply{
				Stream: q.stream || kind == "text/event-stream", Header: res.Header,
				Body: &replyBody{
					cancel: cancel, body: res.Body, watch: w, idle: lim.Patience(lim.Idle, waits),
					remaining: int(lim.ReplyBytes),
					fail:      func(err error) *Failure { return c.unanswered(ctx, set, err) },
				},
			}
			c.began(srv, gjson.GetBytes(body, "model").Str)
			if q.read != nil {
				reply.Body = q.read(reply.Body)
			}
			return reply, nil
		}
	}
	defer cancel(nil)
	defer w.stop()
	if err != nil {
		return nil, c.unreached(ctx, set, err, began)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(io.LimitReader(res.Body, int64(lim.ErrorBytes)))
	if err != nil && len(said) == 0 {
		return nil, c.unanswered(ctx, set, fmt.Errorf("%w: %w", errBrokeOff, err))
	}
	failed := c.Classify(set, srv, Answer{Status: res.StatusCode, Header: res.Header, Body: said,
		Window: c.Window(srv, gjson.GetBytes(body, "model").Str)})
	failed.Retried = tries.made > 1
	failed.noAPI = q.own && slices.Contains([]int{403, 404, 405, 501}, res.StatusCode) &&
		gjson.GetBytes(said, "error").Type != gjson.String // which is how Ollama itself tells one
	if rec, ok := Recover(srv, said); ok && res.StatusCode != http.StatusOK {
		return &Reply{Header: res.Header, Body: http.NoBody, Recovered: &rec, Failure: failed}, nil
	}
	return nil, failed
}

// Streams waits for what the body begins with, and reports whether that is server-sent events: gateways send
// them under any Content-Type, and JSON under theirs. Where it is neither, the head of the reply decides.
func (r *Reply) Streams() bool {
	body, ok := r.Body.(*replyBody)
	if !ok {
		return r.Stream
	}
	switch first := body.begin(); {
	case first == "{", first == "[":
		return false
	case strings.HasSuffix(first, ":"):
		return true
	}
	return r.Stream
}

// mediaType is a Content-Type without its parameters.
func mediaType(s string) string {
	kind, _, _ := strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// send posts body until a response has come that is worth looking at. It does so in a
// goroutine of its own: http.Client and retryablehttp need more stack than all the rest of a
// stream, and the caller, which may live for minutes, would keep it.
func (c *Client) send(ctx context.Context, tries *attempts, to string, body []byte) (*http.Response, error) {
	var res *http.Response
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		res, err = c.try(ctx, tries, to, body)
	}()
	<-done
	return res, err
}

func (c *Client) try(ctx context.Context, tries *attempts, to string, body []byte) (*http.Response, error) {
	sent := &letter{body: body}
	defer sent.arrived()
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, to,
		retryablehttp.ReaderFunc(sent.send))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/x-ndjson, application/json")
	place := telemetry.PlaceOf(ctx)
	place.Set(req.Header)
	c.authorize(req.Request)
	rc := retryablehttp.Client{
		HTTPClient:   c.http,
		RetryMax:     tries.Retries,
		CheckRetry:   tries.check,
		Backoff:      tries.backoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	res, err := rc.Do(req)
	if err != nil && res != nil {
		res.Body.Close()
	}
	return res, err
}

func (c *Client) authorize(req *http.Request) {
	req.Header.Set("User-Agent", "gpt-oss-executor")
	req.Header.Set("Accept-Encoding", "identity")
	if c.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
}

// unreached is the failure of a request that began then and brought no head of an answer.
// Here, and only here, is decided whether the upstream is away.
func (c *Client) unreached(ctx context.Context, set *ruleset.Set, err error, began time.Time) *Failure {
	failed := c.unanswered(ctx, set, err)
	if failed.Fault == ruleset.Unreachable && (obstacleOf(err) != nil ||
		c.contact.lost(began, set.Limits.Away)) {
		return failure(set, ruleset.Away, failed.Why, failed.Say.Log)
	}
	return failed
}

// unanswered is the failure of a request without an answer, or with half of one.
func (c *Client) unanswered(ctx context.Context, set *ruleset.Set, err error) *Failure {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	failed := unanswered(set, err)
	c.keepSecret(failed)
	return failed
}

// Classify is the package's Classify without the upstream's key, for errors that
// come inside a 200 too.
func (c *Client) Classify(set *ruleset.Set, srv *ruleset.Server, a Answer) *Failure {
	failed := Classify(set, srv, a)
	c.keepSecret(failed)
	return failed
}

// keepSecret takes the upstream's key out of everything that will be seen, in
// case the upstream repeated it.
func (c *Client) keepSecret(f *Failure) {
	if c.cfg.Key == "" {
		return
	}
	f.Why = strings.ReplaceAll(f.Why, c.cfg.Key, "[key]")
	f.Say.Message = strings.ReplaceAll(f.Say.Message, c.cfg.Key, "[key]")
	f.Say.Log = strings.ReplaceAll(f.Say.Log, c.cfg.Key, "[key]")
}
