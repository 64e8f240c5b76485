package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// sighting is what an upstream answered to one round of probes. It never
// changes once made.
type sighting struct {
	at      time.Time
	set     *ruleset.Set
	answers map[string][]byte // path below the root → body of an answer with status 200
}

// Bounds of a probe where the limits set none, and of its answer in bytes.
const (
	probeTimeout = 2 * time.Second
	probeEvery   = time.Minute
	probeAgain   = time.Second // after a round without any answer
	probeBytes   = 1 << 20
)

// look gives the last sighting. Callers wait for the first answers, at most for one
// probe's time; later they get the old ones while new ones are fetched.
func (c *Client) look(ctx context.Context, set *ruleset.Set) *sighting {
	every := set.Limits.ProbeEvery
	if every <= 0 {
		every = probeEvery
	}
	c.mu.Lock()
	seen, wait := c.seen, c.looking
	if seen != nil && len(seen.answers) == 0 {
		every = probeAgain
	}
	if wait == nil && (seen == nil || time.Since(seen.at) > every) {
		wait = c.round(ctx, set)
	}
	c.mu.Unlock()
	if seen != nil {
		return seen
	}
	select {
	case <-wait:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		return &sighting{}
	}
	return c.seen
}

// round begins a round of probes; mu is held, and none runs. The channel is closed when it has ended.
func (c *Client) round(ctx context.Context, set *ruleset.Set) chan struct{} {
	c.looking = make(chan struct{})
	go c.probe(context.WithoutCancel(ctx), set, cmp.Or(max(set.Limits.ProbeTimeout, 0), probeTimeout),
		c.looking)
	return c.looking
}

// LookAgain asks the probes now, and waits for the answers.
func (c *Client) LookAgain(ctx context.Context, set *ruleset.Set) {
	c.mu.Lock()
	wait := c.looking
	if wait == nil {
		wait = c.round(ctx, set)
	}
	c.mu.Unlock()
	select {
	case <-wait:
	case <-ctx.Done():
	}
}

// began notes that a reply has begun: what the server says of a model may be another thing once the model is
// loaded, such as its context. It is asked again soon, if it has not said that.
func (c *Client) began(srv *ruleset.Server, model string) {
	if srv.Props == "" || c.Window(srv, model) > 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen != nil && c.seen.answers[srv.Props] != nil {
		old := *c.seen
		old.at = time.Time{}
		c.seen = &old
	}
}

// probe asks and stores the answers. What an upstream knew nothing of is not
// asked again, to spare its log, as long as it seems to be the same: it lists the same
// models of the same owners, and knows what it knew. One that has gone away keeps the
// answers it gave.
func (c *Client) probe(ctx context.Context, set *ruleset.Set, timeout time.Duration, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c.mu.Lock()
	old := c.seen
	c.mu.Unlock()
	var answers map[string][]byte
	if old == nil || old.set != set || len(old.answers) == 0 {
		answers, _ = c.fetch(ctx, questions(set.Servers))
	} else {
		now, other := c.fetch(ctx, slices.Collect(maps.Keys(old.answers)))
		answers = maps.Clone(old.answers)
		maps.Copy(answers, now)
		if other || listed(answers[modelsPath]) != listed(old.answers[modelsPath]) {
			answers, _ = c.fetch(ctx, questions(set.Servers))
		}
	}
	if old != nil && len(answers) == 0 {
		answers = old.answers
	}
	c.mu.Lock()
	c.seen, c.looking = &sighting{at: time.Now(), set: set, answers: answers}, nil
	c.mu.Unlock()
	close(done)
}

// listed is what tells one list of models from another.
func listed(list []byte) string {
	var b strings.Builder
	all, _ := entries(list)
	for _, m := range all {
		fmt.Fprintf(&b, "%q %q\n", idOf(m), m.Get("owned_by").Str)
	}
	return b.String()
}

// fetch gets all paths at once and returns the answers with status 200, and whether it
// was said of one that there is none.
func (c *Client) fetch(ctx context.Context, paths []string) (answers map[string][]byte, unknown bool) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	answers = map[string][]byte{}
	for _, path := range paths {
		wg.Go(func() {
			body, err := c.get(ctx, path)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				answers[path] = body
			}
			unknown = unknown || errors.Is(err, statusError(http.StatusNotFound))
		})
	}
	wg.Wait()
	return answers, unknown
}

// get fetches one path below the root.
func (c *Client) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.address(path), nil)
	if err != nil {
		return nil, err
	}
	c.authorize(req)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	c.contact.made()
	if res.StatusCode != http.StatusOK {
		return nil, statusError(res.StatusCode)
	}
	return io.ReadAll(io.LimitReader(res.Body, probeBytes))
}

// address puts a path below the root. /v1 stands for the API's own version.
func (c *Client) address(path string) string {
	if rest, ok := strings.CutPrefix(path, "/v1/"); ok {
		return c.base + "/" + rest
	}
	return c.root + path
}

// statusError is an answer to a probe other than 200.
type statusError int

func (s statusError) Error() string {
	return fmt.Sprintf("HTTP %d %s", int(s), http.StatusText(int(s)))
}

// readyFor is how long the result of a probe for readiness stands.
const readyFor = 2 * time.Second

// Ready reports whether the upstream can be reached and takes our key within the
// given time. Its result is for all who ask, so it outlives a caller that leaves.
// The error is for the operator; it holds no address.
func (c *Client) Ready(ctx context.Context, within time.Duration) error {
	c.readyMu.Lock()
	defer c.readyMu.Unlock()
	if time.Since(c.readyAt) < readyFor {
		return c.readyAs
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	body, err := c.get(ctx, modelsPath)
	var code statusError
	switch {
	case err == nil && !isList(body):
		err = fmt.Errorf("upstream: it answers, but %s is no list of models. Is it a model server? It says: %q", modelsPath, cut(shown(string(body)), 60))
	case err == nil:
	case errors.As(err, &code) && (code == http.StatusUnauthorized || code == http.StatusForbidden):
		err = fmt.Errorf("upstream: it refuses the key: %w", err)
	case errors.As(err, &code):
		err = fmt.Errorf("upstream: %s: %w", modelsPath, err)
	default:
		if o := obstacleOf(err); o != nil {
			err = fmt.Errorf("upstream: it %w: %w", errAbsent, o)
		} else {
			err = fmt.Errorf("upstream: it %w: %s", errAbsent, Reason(err))
		}
	}
	c.readyAt, c.readyAs = time.Now(), err
	return err
}

// errAbsent is the part of an error of Ready that says that there was no answer of any kind.
var errAbsent = errors.New("cannot be reached")

// attend ends a request when the server, before it began to answer, was absent at two looks in a row. At one
// alone it may have had much to do. It is for a request for which another server waits.
func (c *Client) attend(ctx context.Context, cancel context.CancelCauseFunc, w *watch, within time.Duration) {
	look := time.NewTicker(2 * within)
	defer look.Stop()
	for missed := 0; missed < 2; {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		if missed++; !errors.Is(c.Ready(ctx, within), errAbsent) {
			missed = 0
		}
		if w.begun.Load() {
			return
		}
	}
	cancel(errGone)
}
