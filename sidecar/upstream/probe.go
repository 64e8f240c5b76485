package upstream

import (
	"bytes"
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
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// probeResult is what an upstream answered to one round of probes. It never changes.
type probeResult struct {
	at      time.Time
	set     *ruleset.Set
	answers map[string][]byte // bodies with status 200 by path below the root
}

// Bounds of probes where the limits set none, and of an answer in bytes.
const (
	probeTimeout = 2 * time.Second
	probeEvery   = time.Minute
	probeAgain   = time.Second // after a round without any answer
	probeBytes   = 1 << 20
)

// probed returns the last probe results. Callers wait for the first results only, for at most one probe's
// time; later ones are fetched in the background.
func (c *Client) probed(ctx context.Context, set *ruleset.Set) *probeResult {
	every := set.Limits.ProbeEvery
	if every <= 0 {
		every = probeEvery
	}
	c.mu.Lock()
	seen, round := c.results, c.probing
	if seen != nil && len(seen.answers) == 0 {
		every = probeAgain
	}
	if round == nil && (seen == nil || time.Since(seen.at) > every) {
		round = c.startProbe(ctx, set)
	}
	c.mu.Unlock()
	if seen != nil {
		return seen
	}
	wait(ctx, round)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.results == nil {
		return &probeResult{}
	}
	return c.results
}

// startProbe starts a round of probes. mu is held and none runs. The channel is closed at its end.
func (c *Client) startProbe(ctx context.Context, set *ruleset.Set) chan struct{} {
	c.probing = make(chan struct{})
	go c.probe(context.WithoutCancel(ctx), set, cmp.Or(max(set.Limits.ProbeTimeout, 0), probeTimeout),
		c.probing)
	return c.probing
}

// LookAgain probes now and waits for the answers.
func (c *Client) LookAgain(ctx context.Context, set *ruleset.Set) {
	c.mu.Lock()
	round := c.probing
	if round == nil {
		round = c.startProbe(ctx, set)
	}
	c.mu.Unlock()
	wait(ctx, round)
}

func wait(ctx context.Context, done <-chan struct{}) {
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// began notes that a reply has begun. A server that has not told the context of its model is probed again
// soon, as it may once the model is loaded.
func (c *Client) began(srv *ruleset.Server, model string) {
	if srv.Props == "" || c.Window(srv, model) > 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.results != nil && c.results.answers[srv.Props] != nil {
		old := *c.results
		old.at = time.Time{}
		c.results = &old
	}
}

// probe asks and stores the answers. Paths without an answer are not asked again, to spare the server's
// log, while the server seems the same: it lists the same models of the same owners and knows what it knew.
// A server that is away keeps its answers.
func (c *Client) probe(ctx context.Context, set *ruleset.Set, timeout time.Duration, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c.mu.Lock()
	old := c.results
	c.mu.Unlock()
	var answers map[string][]byte
	if old == nil || old.set != set || len(old.answers) == 0 {
		answers, _ = c.fetch(ctx, probePaths(set.Servers))
	} else {
		now, other := c.fetch(ctx, slices.Collect(maps.Keys(old.answers)))
		answers = maps.Clone(old.answers)
		maps.Copy(answers, now)
		if other || fingerprint(answers[modelsPath]) != fingerprint(old.answers[modelsPath]) {
			answers, _ = c.fetch(ctx, probePaths(set.Servers))
		}
	}
	if old != nil && len(answers) == 0 {
		answers = old.answers
	}
	c.mu.Lock()
	c.results, c.probing = &probeResult{at: time.Now(), set: set, answers: answers}, nil
	c.mu.Unlock()
	close(done)
}

// fingerprint tells one list of models from another.
func fingerprint(list []byte) string {
	var b strings.Builder
	all, _ := listEntries(list)
	for _, m := range all {
		fmt.Fprintf(&b, "%q %q\n", idOf(m), m.Get("owned_by").Str)
	}
	return b.String()
}

// fetch gets all paths at once. It returns the answers with status 200 and whether a path was not found.
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

// get gets one path below the root.
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
	c.reach.answered()
	if res.StatusCode != http.StatusOK {
		return nil, statusError(res.StatusCode)
	}
	return io.ReadAll(io.LimitReader(res.Body, probeBytes))
}

// address puts a path below the root. /v1 stands for the API's version.
func (c *Client) address(path string) string {
	if rest, ok := strings.CutPrefix(path, "/v1/"); ok {
		return c.base + "/" + rest
	}
	return c.root + path
}

// statusError is the status of a probe other than 200.
type statusError int

func (s statusError) Error() string {
	return fmt.Sprintf("HTTP %d %s", int(s), http.StatusText(int(s)))
}

// readyFor is how long a result of Ready is kept.
const readyFor = 2 * time.Second

// Ready reports whether the upstream can be reached and accepts our key within the given time. The result
// serves all callers, so it outlives one that leaves. The error is for the operator and holds no address.
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
		err = fmt.Errorf("upstream: it answers, but %s is no list of models. Is it a model server? It says: %q", modelsPath, cut(redact(string(body)), 60))
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

// errAbsent is part of an error of Ready if no answer of any kind came.
var errAbsent = errors.New("cannot be reached")

// watchAbsence ends a request for which another server waits, when this one did not answer two consecutive
// probes before it began its reply. After one alone it may just be busy.
func (c *Client) watchAbsence(ctx context.Context, cancel context.CancelCauseFunc, w *silenceWatch,
	within time.Duration) {
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
		if w.started.Load() {
			return
		}
	}
	cancel(errGone)
}

// modelsPath lists the models of servers whose dialect names no other path.
const modelsPath = "/v1/models"

// dialect is what probe results mean under a rule set.
type dialect struct {
	set      *ruleset.Set
	probed   *probeResult
	server   *ruleset.Server
	models   []string
	families *recent.Shared[familyMatch] // by the model's name
}

// Server returns the upstream's dialect: the configured one, else the first that its probe results fit.
func (c *Client) Server(ctx context.Context, set *ruleset.Set) *ruleset.Server {
	if c.cfg.Server != "" {
		return set.Server(c.cfg.Server)
	}
	return c.currentDialect(ctx, set).server
}

// currentDialect returns what the latest probe results mean under a set. The last one is kept for each arm.
func (c *Client) currentDialect(ctx context.Context, set *ruleset.Set) *dialect {
	set = set.Base() // no agent has servers of its own
	seen := c.probed(ctx, set)
	old := c.dialect.Load()
	if old != nil && old.set == set && old.probed == seen {
		return old
	}
	key := strings.Join(set.Arms, " ") // experiments alternate between sets
	own, _ := c.dialects.Get(key)
	if own != nil && own.set == set && own.probed == seen {
		c.dialect.Store(own)
		return own
	}
	d := &dialect{set: set, probed: seen}
	if c.cfg.Server != "" {
		d.server = set.Server(c.cfg.Server)
	} else {
		d.server = detect(set.Servers, seen.answers)
		if len(seen.answers) > 0 && (old == nil || old.server.ID.Value != d.server.ID.Value) {
			c.log.InfoContext(ctx, "upstream recognised", "event",
				"upstream_recognised", "server", d.server.ID.Value)
		}
	}
	d.models = modelIDs(seen.answers[modelListPath(d.server)])
	d.families = recent.NewShared[familyMatch](maxModels)
	if own != nil && own.set == set && own.server == d.server && slices.Equal(own.models, d.models) {
		d.families = own.families // it is the same server: what it has said counts
	}
	c.dialects.Swap(key, d)
	c.dialect.Store(d)
	return d
}

// detect returns the first server with a matching probe, else the last server.
func detect(servers []ruleset.Server, answers map[string][]byte) *ruleset.Server {
	for i := range servers {
		if len(servers[i].Detect) == 0 {
			return &servers[i]
		}
		for _, p := range servers[i].Detect {
			if body, ok := answers[p.Path]; ok && probeFits(p, body) {
				return &servers[i]
			}
		}
	}
	return &servers[len(servers)-1]
}

// probeFits ignores white space, as servers indent their JSON differently.
func probeFits(p ruleset.Probe, body []byte) bool {
	if p.Contains == "" {
		doc := bytes.TrimSpace(body)
		return len(doc) > 0 && doc[0] == '{' && gjson.ValidBytes(doc)
	}
	return bytes.Contains(bytes.Map(noSpace, body), []byte(strings.Map(noSpace, p.Contains)))
}

func noSpace(r rune) rune {
	if unicode.IsSpace(r) {
		return -1
	}
	return r
}

// probePaths returns the paths that tell servers apart and list models and contexts.
func probePaths(servers []ruleset.Server) []string {
	ask := []string{modelsPath}
	for i := range servers {
		for _, p := range servers[i].Detect {
			ask = append(ask, p.Path)
		}
		ask = append(ask, modelListPath(&servers[i]))
		if servers[i].Props != "" {
			ask = append(ask, servers[i].Props)
		}
	}
	slices.Sort(ask)
	return slices.Compact(ask)
}

func modelListPath(srv *ruleset.Server) string {
	if srv.Models == "" {
		return modelsPath
	}
	return "/v1" + srv.Models
}

// Models returns the ids that the upstream lists; empty: it does not answer.
func (c *Client) Models(ctx context.Context, set *ruleset.Set) []string {
	return c.currentDialect(ctx, set).models
}

// Answer returns the upstream's latest answer to the probe of a path; nil: none that helps.
func (c *Client) Answer(path string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.results == nil {
		return nil
	}
	return c.results.answers[path]
}

func modelIDs(list []byte) []string {
	var ids []string
	all, _ := listEntries(list)
	for _, m := range all {
		ids = append(ids, idOf(m))
	}
	return ids
}

// listEntries returns the entries of a model list: in data as OpenAI, in models as Ollama, or bare as
// Together has them.
func listEntries(list []byte) (all []gjson.Result, is bool) {
	doc := gjson.ParseBytes(list)
	for _, name := range []string{"data", "models", "@this"} {
		if list := doc.Get(name); list.IsArray() {
			return list.Array(), true
		}
	}
	data := doc.Get("data")
	return nil, data.Exists() && data.Type == gjson.Null // of Ollama without a model
}

func isList(body []byte) bool { _, is := listEntries(body); return is }

// idOf returns the id of a model in a list.
func idOf(m gjson.Result) string {
	return cmp.Or(m.Get("id").String(), m.Get("model").String(), m.Get("name").String())
}

// Window returns the context of a model in tokens, as the probe results say; 0: unknown. model is its name
// at the upstream.
func (c *Client) Window(srv *ruleset.Server, model string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.results == nil {
		return 0
	}
	return smallestWindow(srv, model, c.results.answers)
}

// smallestWindow returns the smallest context of the model in the answers, as it may be trained for more
// than the server gives it. In a list without the model the first entry counts.
func smallestWindow(srv *ruleset.Server, model string, answers map[string][]byte) int {
	least := 0
	for _, path := range []string{modelListPath(srv), srv.Props} {
		about, _ := listEntries(answers[path])
		at := max(0, slices.IndexFunc(about, func(m gjson.Result) bool { return idOf(m) == model }))
		for _, key := range srv.Window {
			of := gjson.ParseBytes(answers[path])
			if inList, ok := strings.CutPrefix(key, "data.0."); ok && len(about) > 0 {
				of, key = about[at], inList
			}
			n := int(of.Get(strings.ReplaceAll(key, "{model}", model)).Int())
			if n > 0 && (least == 0 || n < least) {
				least = n
			}
		}
	}
	return least
}
