package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Reply is an answer with status 200, or one made from an error body.
type Reply struct {
	Stream   bool // Body is server-sent events
	Header   http.Header
	Body     io.ReadCloser // never nil; close it. Its errors are *Failure
	Attempts int           // requests that were sent, at least 1

	Recovered *Recovered // what the model wrote, found in an error body; Body is empty
	Failure   *Failure   // that error; set only with Recovered
}

// Ask posts a chat completion request, already in the dialect of srv, and tries
// again within the limits of the set while no answer has begun. The error is a
// *Failure. Ending ctx ends the request at once, at any stage.
func (c *Client) Ask(ctx context.Context, set *ruleset.Set, srv *ruleset.Server, body []byte) (*Reply, error) {
	reply, failed := c.post(ctx, set, srv, body)
	if failed != nil && failed.fits > 0 {
		c.log.InfoContext(ctx, "max_tokens lowered to what the context leaves", "event", "max_tokens_lowered", "max_tokens", failed.fits)
		reply, failed = c.post(ctx, set, srv, capTokens(body, failed.fits))
	}
	if failed != nil {
		return nil, failed
	}
	return reply, nil
}

// post is Ask without the second request that a too large max_tokens needs.
func (c *Client) post(ctx context.Context, set *ruleset.Set, srv *ruleset.Server, body []byte) (*Reply, *Failure) {
	lim := &set.Limits
	ctx, cancel := context.WithCancelCause(ctx)
	w := watchSilence(cancel, lim.FirstByte)
	res, tries, err := c.send(ctx, lim, body)
	if err == nil {
		kind := mediaType(res.Header.Get("Content-Type"))
		if res.StatusCode == http.StatusOK && kind != "text/html" {
			return &Reply{
				Stream: kind == "text/event-stream", Header: res.Header, Attempts: tries,
				Body: &replyBody{
					cancel: cancel, body: res.Body, watch: w, idle: lim.Idle, left: lim.ReplyBytes,
					fail: func(err error) *Failure { return c.unanswered(ctx, set, err) },
				},
			}, nil
		}
	}
	defer cancel(nil)
	defer w.stop()
	if err != nil {
		return nil, c.unanswered(ctx, set, err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(io.LimitReader(res.Body, int64(lim.ErrorBytes)))
	if err != nil && len(said) == 0 {
		return nil, c.unanswered(ctx, set, fmt.Errorf("%w: %w", errBrokeOff, err))
	}
	failed := c.Classify(set, srv, Answer{Status: res.StatusCode, Header: res.Header, Body: said, Window: c.knownWindow(srv)})
	if rec, ok := Recover(srv, res.StatusCode, said); ok {
		return &Reply{Header: res.Header, Attempts: tries, Body: http.NoBody, Recovered: &rec, Failure: failed}, nil
	}
	return nil, failed
}

// mediaType is a Content-Type without its parameters.
func mediaType(s string) string {
	kind, _, _ := strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// send posts body until a response has come that is worth looking at, or no attempt is
// left. A redirect is a response like others: followed, a POST would arrive as GET, and
// the key elsewhere.
func (c *Client) send(ctx context.Context, lim *ruleset.Limits, body []byte) (*http.Response, int, error) {
	tries := newAttempts(c.log, lim)
	for {
		req, err := c.request(ctx, body)
		if err != nil {
			return nil, tries.made, err
		}
		res, err := c.pool.RoundTrip(req)
		if !tries.again(ctx, res, err) {
			return res, tries.made, err
		}
		if res != nil {
			_, _ = io.CopyN(io.Discard, res.Body, int64(lim.ErrorBytes)) // so that the connection serves again
			res.Body.Close()
		}
		select {
		case <-ctx.Done():
			return nil, tries.made, ctx.Err()
		case <-time.After(tries.wait):
		}
	}
}

func (c *Client) request(ctx context.Context, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	if u := req.URL.User; u != nil {
		password, _ := u.Password()
		req.SetBasicAuth(u.Username(), password)
	}
	c.authorize(req)
	return req, nil
}

func (c *Client) authorize(req *http.Request) {
	req.Header.Set("User-Agent", "gpt-oss-executor")
	if c.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
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
	f.Say.Message = strings.ReplaceAll(f.Say.Message, c.cfg.Key, "[key]")
	f.Say.Log = strings.ReplaceAll(f.Say.Log, c.cfg.Key, "[key]")
}
