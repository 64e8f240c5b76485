package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Observations of a server are tried again after these times, since it may have been restarted with other
// settings.
const (
	seenFor  = 10 * time.Minute
	doubtFor = time.Minute // for a test without a result
)

// maxModels is how many models are remembered. Where a server lists none, callers may invent names.
const maxModels = 1024

// abilities are what was observed of the models of an upstream. They are safe for concurrent use.
type abilities struct {
	now func() time.Time

	mu      sync.Mutex
	refused *recent.Map[time.Time]   // when a model refused something, by both in a sentence
	schemas *recent.Map[*schemaTest] // by model and dialect
}

// schemaTest is a test of whether a model follows a JSON Schema.
type schemaTest struct {
	done    chan struct{} // closed at the end of the test, before which nothing below may be read
	at      time.Time     // end of the test
	follows bool
	unclear bool // the test had no result
	detail  string
}

func newAbilities(now func() time.Time) *abilities {
	return &abilities{now: now, refused: recent.New[time.Time](maxModels, nil),
		schemas: recent.New[*schemaTest](maxModels, nil)}
}

// Takes reports whether a model has not refused something lately, such as tools.
func (c *Client) Takes(model, what string) bool {
	a := c.abilities
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.refused.Get(refusal(model, what))
	return at == nil || a.now().Sub(*at) >= seenFor
}

// Refused notes that a model has refused something.
func (c *Client) Refused(model, what string) {
	a := c.abilities
	a.mu.Lock()
	defer a.mu.Unlock()
	at, _ := a.refused.Use(refusal(model, what))
	*at = a.now()
}

func refusal(model, what string) string { return model + " refuses " + what }

// stale reports whether a finished test is too old to rely on.
func (a *abilities) stale(t *schemaTest) bool {
	select {
	case <-t.done:
	default:
		return false
	}
	age := a.now().Sub(t.at)
	return t.unclear && age >= doubtFor || !t.unclear && !t.follows && age >= seenFor
}

// testOf returns the test of a key. If it is mine, the caller runs it and closes done.
func (a *abilities) testOf(key string) (t *schemaTest, mine bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept, made := a.schemas.Use(key)
	if !made && !a.stale(*kept) {
		return *kept, false
	}
	*kept = &schemaTest{done: make(chan struct{})}
	return *kept, true
}

// noteFailure notes that a schema was of no use.
func (a *abilities) noteFailure(key string) {
	t := &schemaTest{done: make(chan struct{}), at: a.now()}
	close(t.done)
	a.mu.Lock()
	defer a.mu.Unlock()
	kept, _ := a.schemas.Use(key)
	*kept = t
}

// Learnt returns what was observed of the server and its models, in sentences.
func (c *Client) Learnt() (out []string) {
	if c.EatsHeaders() {
		out = append(out, "the header of the first thought is missing in its replies")
	}
	a := c.abilities
	a.mu.Lock()
	defer a.mu.Unlock()
	var refuse, follow []string
	for said, at := range a.refused.All() {
		if a.now().Sub(*at) < seenFor {
			refuse = append(refuse, said)
		}
	}
	for key, t := range a.schemas.All() {
		model, _, _ := strings.Cut(key, "\x00")
		if said := (*t).message(); said != "" {
			follow = append(follow, model+" "+said)
		}
	}
	slices.Sort(refuse)
	slices.Sort(follow)
	return slices.Concat(out, refuse, follow)
}

// message returns the result in words; empty: there is none yet.
func (t *schemaTest) message() string {
	select {
	case <-t.done:
	default:
		return ""
	}
	switch why := ": " + t.detail; {
	case t.follows:
		return "follows a JSON Schema"
	case t.unclear:
		return "could not be tried with a JSON Schema" + why
	case t.detail != "":
		return "does not follow a JSON Schema" + why
	}
	return "does not follow a JSON Schema"
}

// schemaTimeout bounds the time for the answer to the test.
const schemaTimeout = 30 * time.Second

// The question, and the only answer that the schema takes. No model greets like this by
// itself, and the prompt says nothing of it: who writes it was made to.
const (
	schemaAnswer = "heron-4127"
	testSchema   = `{"type":"object","properties":{"verdict":{"type":"string","enum":["` + schemaAnswer +
		`"]}},"required":["verdict"],"additionalProperties":false}`
	schemaRequest = `{"messages":[{"role":"user","content":"Say hello."}],"stream":false,"max_tokens":1024,"temperature":0,"reasoning_effort":"low"}`
)

// FollowsSchema reports whether the server makes a model follow a JSON Schema; false if that is unclear.
// Servers ignore unknown fields silently, so it is tested: by the first caller, for whom the others wait.
func (c *Client) FollowsSchema(ctx context.Context, set *ruleset.Set, srv *ruleset.Server,
	m ruleset.Model) bool {
	t, mine := c.abilities.testOf(schemaKey(srv, m))
	if mine {
		go c.runTest(context.WithoutCancel(ctx), t, set, srv, m)
	}
	select {
	case <-t.done:
		return t.follows
	case <-ctx.Done():
		return false
	}
}

// IgnoresSchema notes that the server refused a schema or a reply did not follow one, so that it is not
// relied on for a while.
func (c *Client) IgnoresSchema(srv *ruleset.Server, m ruleset.Model) {
	c.abilities.noteFailure(schemaKey(srv, m))
}

// TestSchema runs the test now and remembers nothing. unclear means that it had no result, detail what
// came.
func (c *Client) TestSchema(ctx context.Context, set *ruleset.Set, srv *ruleset.Server,
	m ruleset.Model) (obeys, doubt bool, detail string) {
	ctx, cancel := context.WithTimeout(ctx, schemaTimeout)
	defer cancel()
	return c.testSchema(ctx, set, srv, m)
}

func schemaKey(srv *ruleset.Server, m ruleset.Model) string {
	return m.Name + "\x00" + srv.ID.Value + "\x00" + srv.Structured
}

// runTest runs the test, notes the result and logs it.
func (c *Client) runTest(ctx context.Context, t *schemaTest, set *ruleset.Set, srv *ruleset.Server,
	m ruleset.Model) {
	ctx, cancel := context.WithTimeout(ctx, schemaTimeout)
	defer cancel()
	t.follows, t.unclear, t.detail = c.testSchema(ctx, set, srv, m)
	t.at = c.abilities.now()
	close(t.done)
	c.log.InfoContext(ctx, "tried whether the model server follows a JSON Schema", "event",
		"schema_tried", "model", m.Name, "server", srv.ID.Value,
		"follows", t.follows, "in_doubt", t.unclear, "detail", t.detail)
}

func (c *Client) testSchema(ctx context.Context, set *ruleset.Set, srv *ruleset.Server,
	m ruleset.Model) (obeys, doubt bool, detail string) {
	body, err := schemaBody(srv, m)
	if err != nil {
		return false, true, err.Error()
	}
	reply, err := c.Ask(ctx, set, srv, body, schemaTimeout)
	if err != nil {
		var f *Failure
		refused := errors.As(err, &f) && (f.Fault == ruleset.Rejected ||
			f.Say.Status == http.StatusUnprocessableEntity)
		return false, !refused, err.Error()
	}
	defer reply.Body.Close()
	doc, err := io.ReadAll(io.LimitReader(reply.Body, probeBytes))
	if err != nil {
		return false, true, err.Error()
	}
	choice := gjson.GetBytes(doc, "choices.0")
	said := strings.TrimSpace(choice.Get("message.content").String())
	switch {
	case gjson.Valid(said) && gjson.Get(said, "verdict").String() == schemaAnswer:
		return true, false, "it did"
	case choice.Get("finish_reason").String() == "length":
		return false, true, "it thought for too long"
	}
	return false, false, "it said " + cut(redact(said), 60)
}

// schemaBody returns the test request in the dialect of the server.
func schemaBody(srv *ruleset.Server, m ruleset.Model) ([]byte, error) {
	q, err := openai.ParseRequest([]byte(schemaRequest))
	if err != nil {
		return nil, err
	}
	if q, err = WithSchema(q, []byte(testSchema)); err != nil {
		return nil, err
	}
	return openai.Apply(q.Body, Prepare(q, srv, m, Memory{}, nil)), nil
}

// WithSchema returns a request whose reply must follow a JSON Schema, as OpenAI writes it. Prepare puts it
// where the server looks.
func WithSchema(q *openai.Request, schema []byte) (*openai.Request, error) {
	format := append([]byte(`{"type":"json_schema","json_schema":{"name":"reply","strict":true,"schema":`),
		schema...)
	return openai.ParseRequest(openai.Apply(q.Body,
		[]openai.Edit{q.Set("response_format", append(format, "}}"...))}))
}
