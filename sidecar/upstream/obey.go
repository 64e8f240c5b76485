package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// obeyTimeout is how long a server may think about the question.
const obeyTimeout = 30 * time.Second

// The question, and the only answer that the schema takes. No model greets like this by
// itself, and the prompt says nothing of it: who writes it was made to.
const (
	obeyAnswer = "heron-4127"
	obeySchema = `{"type":"object","properties":{"verdict":{"type":"string","enum":["` + obeyAnswer +
		`"]}},"required":["verdict"],"additionalProperties":false}`
	obeyRequest = `{"messages":[{"role":"user","content":"Say hello."}],"stream":false,"max_tokens":1024,"temperature":0,"reasoning_effort":"low"}`
)

// Obeys reports whether the server makes a model follow a JSON Schema. Servers ignore a field
// that they do not know without a word, so one is asked. Only the first caller asks; the
// others wait for it. Where it cannot be told, it does not.
func (c *Client) Obeys(ctx context.Context, set *ruleset.Set, srv *ruleset.Server, m ruleset.Model) bool {
	t, mine := c.abilities.trialOf(schemaKey(srv, m))
	if mine {
		go c.tryOut(context.WithoutCancel(ctx), t, set, srv, m)
	}
	select {
	case <-t.done:
		return t.obeys
	case <-ctx.Done():
		return false
	}
}

// Disobeys notes that the server refused a schema, or that a reply did not follow one: for a
// while it is not relied upon.
func (c *Client) Disobeys(srv *ruleset.Server, m ruleset.Model) { c.abilities.fails(schemaKey(srv, m)) }

// Follows asks the question of Obeys now, whatever is known, and remembers nothing. Doubt says
// that it could not be told, detail what came.
func (c *Client) Follows(ctx context.Context, set *ruleset.Set, srv *ruleset.Server,
	m ruleset.Model) (obeys, doubt bool, detail string) {
	ctx, cancel := context.WithTimeout(ctx, obeyTimeout)
	defer cancel()
	return c.obeys(ctx, set, srv, m)
}

func schemaKey(srv *ruleset.Server, m ruleset.Model) string {
	return m.Name + "\x00" + srv.ID.Value + "\x00" + srv.Structured
}

// tryOut asks, notes the answer and says it in the log.
func (c *Client) tryOut(ctx context.Context, t *trial, set *ruleset.Set, srv *ruleset.Server,
	m ruleset.Model) {
	ctx, cancel := context.WithTimeout(ctx, obeyTimeout)
	defer cancel()
	t.obeys, t.doubt, t.detail = c.obeys(ctx, set, srv, m)
	t.at = c.abilities.now()
	close(t.done)
	c.log.InfoContext(ctx, "tried whether the model server follows a JSON Schema", "event",
		"schema_tried", "model", m.Name, "server", srv.ID.Value,
		"follows", t.obeys, "in_doubt", t.doubt, "detail", t.detail)
}

func (c *Client) obeys(ctx context.Context, set *ruleset.Set, srv *ruleset.Server,
	m ruleset.Model) (obeys, doubt bool, detail string) {
	body, err := obeyBody(srv, m)
	if err != nil {
		return false, true, err.Error()
	}
	reply, err := c.Ask(ctx, set, srv, body, obeyTimeout)
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
	case gjson.Valid(said) && gjson.Get(said, "verdict").String() == obeyAnswer:
		return true, false, "it did"
	case choice.Get("finish_reason").String() == "length":
		return false, true, "it thought for too long"
	}
	return false, false, "it said " + cut(shown(said), 60)
}

// obeyBody is the question in the dialect of the server.
func obeyBody(srv *ruleset.Server, m ruleset.Model) ([]byte, error) {
	q, err := openai.ParseRequest([]byte(obeyRequest))
	if err != nil {
		return nil, err
	}
	if q, err = WithSchema(q, []byte(obeySchema)); err != nil {
		return nil, err
	}
	return openai.Apply(q.Body, Prepare(q, srv, m, Memory{}, nil)), nil
}

// WithSchema is a request whose reply must follow a JSON Schema, as OpenAI writes it. Prepare
// puts it where the server looks for it.
func WithSchema(q *openai.Request, schema []byte) (*openai.Request, error) {
	format := append([]byte(`{"type":"json_schema","json_schema":{"name":"reply","strict":true,"schema":`),
		schema...)
	return openai.ParseRequest(openai.Apply(q.Body,
		[]openai.Edit{q.Set("response_format", append(format, "}}"...))}))
}
