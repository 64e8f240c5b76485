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
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// Reply is an answer with status 200, or one made from an error body.
type Reply struct {
	Stream bool // the header announces server-sent events; see Streams
	Header http.Header
	Body   io.ReadCloser // never nil, must be closed; errors are *Failure

	Recovered *Recovered // words of the model in an error body; Body is empty
	Failure   *Failure   // that error; nil without Recovered
}

// Ask posts a chat completion request in the dialect of srv, and retries within the limits of the set until
// an answer begins. waits is how long the caller waits; 0: unknown. The error is a *Failure. Ending ctx
// ends the request at any stage.
func (c *Client) Ask(ctx context.Context, set *ruleset.Set, srv *ruleset.Server, body []byte,
	waits time.Duration) (*Reply, error) {
	return c.AskWithin(ctx, set, srv, body, waits, Retries(&set.Limits))
}

// AskWithin is Ask within a budget.
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

// post is AskWithin without the second request that a missing API or a too large max_tokens needs.
func (c *Client) post(ctx context.Context, set *ruleset.Set, srv *ruleset.Server, body []byte,
	waits time.Duration, b Budget) (*Reply, *Failure) {
	lim := &set.Limits
	ctx, cancel := context.WithCancelCause(ctx)
	w := watchSilence(cancel, lim.Patience(lim.FirstByte, waits))
	if b.Next {
		go c.watchAbsence(ctx, cancel, w, cmp.Or(lim.ProbeTimeout, probeTimeout))
	}
	began := time.Now()
	tries := &attempts{log: c.log, lim: lim, Budget: b}
	q := c.newExchange(srv, body, b.Streams)
	res, err := c.send(ctx, tries, q.to, q.body)
	if q.next != nil && err == nil && res.StatusCode == http.StatusOK {
		if prompt, ok := q.prompt(res, int64(lim.ReplyBytes)); ok {
			res.Body.Close()
			q = q.next(prompt)
			res, err = c.send(ctx, tries, q.to, q.body)
		}
	}
	if err == nil {
		c.reach.answered()
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
	answer, err := io.ReadAll(io.LimitReader(res.Body, int64(lim.ErrorBytes)))
	if err != nil && len(answer) == 0 {
		return nil, c.unanswered(ctx, set, fmt.Errorf("%w: %w", errBrokeOff, err))
	}
	failed := c.Classify(set, srv, Answer{Status: res.StatusCode, Header: res.Header, Body: answer,
		Window: c.Window(srv, gjson.GetBytes(body, "model").Str)})
	failed.Retried = tries.made > 1
	failed.noAPI = q.ollama && slices.Contains([]int{403, 404, 405, 501}, res.StatusCode) &&
		gjson.GetBytes(answer, "error").Type != gjson.String // which is how Ollama itself tells one
	if rec, ok := Recover(srv, answer); ok && res.StatusCode != http.StatusOK {
		return &Reply{Header: res.Header, Body: http.NoBody, Recovered: &rec, Failure: failed}, nil
	}
	return nil, failed
}

// Streams reports whether the body holds server-sent events. It waits for the first bytes, since gateways
// send events and JSON under any Content-Type; the header decides if these are neither.
func (r *Reply) Streams() bool {
	body, ok := r.Body.(*replyBody)
	if !ok {
		return r.Stream
	}
	switch first := body.start(); {
	case first == "{", first == "[":
		return false
	case strings.HasSuffix(first, ":"):
		return true
	}
	return r.Stream
}

// mediaType returns a Content-Type without its parameters.
func mediaType(s string) string {
	kind, _, _ := strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// send posts the body until a response needs no retry. It runs in its own goroutine: http.Client and
// retryablehttp need more stack than the rest of a stream, and the caller, which may live for minutes,
// would keep it.
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
	sent := &sentBody{body: body}
	defer sent.release()
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, to,
		retryablehttp.ReaderFunc(sent.reader))
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

// unreached returns the failure of a request that began at a time and got no response. It alone decides
// whether the upstream is away.
func (c *Client) unreached(ctx context.Context, set *ruleset.Set, err error, began time.Time) *Failure {
	failed := c.unanswered(ctx, set, err)
	if failed.Fault == ruleset.Unreachable && (obstacleOf(err) != nil ||
		c.reach.failed(began, set.Limits.Away)) {
		return newFailure(set, ruleset.Away, failed.Why, failed.Say.Log)
	}
	return failed
}

// unanswered returns the failure of a request without a complete answer.
func (c *Client) unanswered(ctx context.Context, set *ruleset.Set, err error) *Failure {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	failed := unanswered(set, err)
	c.hideKey(failed)
	return failed
}

// Classify is the function Classify without the upstream's key. It also serves errors inside a 200.
func (c *Client) Classify(set *ruleset.Set, srv *ruleset.Server, a Answer) *Failure {
	failed := Classify(set, srv, a)
	c.hideKey(failed)
	return failed
}

// hideKey removes the upstream's key from a failure, in case the upstream repeated it.
func (c *Client) hideKey(f *Failure) {
	if c.cfg.Key == "" {
		return
	}
	f.Why = strings.ReplaceAll(f.Why, c.cfg.Key, "[key]")
	f.Say.Message = strings.ReplaceAll(f.Say.Message, c.cfg.Key, "[key]")
	f.Say.Log = strings.ReplaceAll(f.Say.Log, c.cfg.Key, "[key]")
}

// Reasons of ours to end a request.
var (
	errFirstByte = errors.New("no answer began in time")
	errGone      = errors.New("no answer began, and it did not say twice which models it has")
	errIdle      = errors.New("the answer stopped in the middle: silence for too long")
	errBrokeOff  = errors.New("the connection broke in the middle of the answer")
	errTooLarge  = errors.New("the answer is larger than size.reply of limits.yaml allows")
)

// silenceWatch ends a request when the upstream is silent for too long.
type silenceWatch struct {
	timer   *time.Timer
	started atomic.Bool // an answer has begun
}

// watchSilence waits for the first byte of the body, since a long prompt may be processed before or after
// the header. 0 waits for ever.
func watchSilence(cancel context.CancelCauseFunc, first time.Duration) *silenceWatch {
	w := &silenceWatch{}
	if first <= 0 {
		first = 1<<63 - 1
	}
	w.timer = time.AfterFunc(first, func() {
		if w.started.Load() {
			cancel(errIdle)
		} else {
			cancel(errFirstByte)
		}
	})
	return w
}

// alive restarts the timer; 0 stops it.
func (w *silenceWatch) alive(idle time.Duration) {
	w.started.Store(true)
	if idle <= 0 {
		w.timer.Stop()
		return
	}
	w.timer.Reset(idle)
}

func (w *silenceWatch) stop() { w.timer.Stop() }

// replyBody is the body of an answer with limits on size and silence.
type replyBody struct {
	cancel    context.CancelCauseFunc
	body      io.ReadCloser
	watch     *silenceWatch
	idle      time.Duration
	remaining int // bytes
	fail      func(error) *Failure
	head      []byte // read by begin and not returned yet
}

// eventFields begin the lines of server-sent events; error is llama.cpp's.
var eventFields = []string{"data:", "event:", "id:", "retry:", "error:", ":"}

// start waits for the first bytes and returns one of eventFields or the first byte of other text; "": there
// is none. It drops white space and a byte order mark.
func (b *replyBody) start() string {
	one := make([]byte, 1)
	for {
		n, err := b.read(one)
		switch {
		case n == 0 && err != nil: // the next read has it, too
			return string(b.head[:min(len(b.head), 1)])
		case n == 0, len(b.head) == 0 && strings.Contains(" \t\r\n\uFEFF", string(one)):
			continue
		}
		b.head = append(b.head, one[0])
		head := string(b.head)
		if slices.Contains(eventFields, head) {
			return head
		}
		if !slices.ContainsFunc(eventFields, func(f string) bool { return strings.HasPrefix(f, head) }) {
			return head[:1]
		}
	}
}

func (b *replyBody) Read(p []byte) (int, error) {
	if len(b.head) > 0 {
		n := copy(p, b.head)
		b.head = b.head[n:]
		return n, nil
	}
	return b.read(p)
}

func (b *replyBody) read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if n > 0 {
		b.watch.alive(b.idle)
	}
	if b.remaining -= n; b.remaining < 0 {
		return 0, b.fail(errTooLarge)
	}
	if err != nil && err != io.EOF {
		err = b.fail(fmt.Errorf("%w: %w", errBrokeOff, err))
	}
	return n, err
}

// Close ends the request and with it the upstream's generation.
func (b *replyBody) Close() error {
	b.watch.stop()
	b.cancel(nil)
	return b.body.Close()
}

// sentBody is the body of a request. The transport keeps the request until its answer has ended, so the
// bytes, often 100 KB, are released once they were sent and an answer has begun.
type sentBody struct {
	mu       sync.Mutex
	body     []byte
	open     int  // readers in use
	answered bool // it is not sent again
}

// bodyReader reads the body once. The transport closes it when done, also during a Read.
type bodyReader struct {
	body   *sentBody
	rest   []byte
	closed bool
}

// reader returns a reader from the start.
func (l *sentBody) reader() (io.Reader, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.body == nil {
		return nil, io.ErrClosedPipe // an answer has begun
	}
	l.open++
	return &bodyReader{body: l, rest: l.body}, nil
}

// release notes that an answer has begun.
func (l *sentBody) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answered = true
	l.drop()
}

func (l *sentBody) drop() {
	if l.answered && l.open == 0 {
		l.body = nil
	}
}

// Len returns the bytes left. The client asks once, before it sends.
func (p *bodyReader) Len() int { return len(p.rest) }

func (p *bodyReader) Read(b []byte) (int, error) {
	p.body.mu.Lock()
	defer p.body.mu.Unlock()
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *bodyReader) Close() error {
	p.body.mu.Lock()
	defer p.body.mu.Unlock()
	if !p.closed {
		p.closed, p.rest = true, nil
		p.body.open--
		p.body.drop()
	}
	return nil
}
