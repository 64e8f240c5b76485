package upstream

import (
	"context"
	"errors"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Seen is what a look at an upstream shows.
type Seen struct {
	Server string   `json:"server"` // id of the dialect
	Models []string `json:"models"` // that it lists
	Model  string   `json:"model"`  // that was tried
	Window int      `json:"context_window,omitempty"`
	Tools  bool     `json:"takes_tools"`    // it did not refuse them
	Schema bool     `json:"follows_schema"` // it makes the model follow a JSON Schema
	Detail []string `json:"detail,omitempty"`
}

// toolRequest offers a tool that no greeting needs.
const toolRequest = `{"messages":[{"role":"user","content":"Say hello."}],"stream":false,"max_tokens":64,"reasoning_effort":"low",` +
	`"tools":[{"type":"function","function":{"name":"current_time","description":"Tells the time.","parameters":{"type":"object","properties":{}}}}],"tool_choice":"auto"}`

// Look asks a model both questions on which the choice of a style depends. What it says of
// tools is remembered, as an error of a caller's request is. The error is of a server that
// cannot be asked.
func (c *Client) Look(ctx context.Context, set *ruleset.Set, m ruleset.Model) (Seen, error) {
	srv := c.Server(ctx, set)
	if m.Server.Value != "" {
		srv = set.Server(m.Server.Value)
	}
	m, err := c.Model(ctx, set, m, m.ID.Value)
	if err != nil {
		return Seen{}, err
	}
	s := Seen{Server: srv.ID.Value, Models: c.Models(ctx, set), Model: m.Name, Window: c.Window(srv, m.Name),
		Tools: true}
	q, err := openai.ParseRequest([]byte(toolRequest))
	if err != nil {
		return Seen{}, err
	}
	reply, err := c.Ask(ctx, set, srv, openai.Apply(q.Body, Prepare(q, srv, m, Memory{}, nil)), obeyTimeout)
	var f *Failure
	switch {
	case err == nil:
		reply.Body.Close()
	case errors.As(err, &f) && f.NoTools:
		c.RefusedTools(m.Name)
		s.Tools = false
		s.Detail = append(s.Detail, f.Why)
	default:
		return s, err
	}
	obeys, detail := c.tried(ctx, set, srv, m)
	if s.Schema = obeys; !obeys {
		s.Detail = append(s.Detail, "asked for an answer by a schema, "+detail)
	}
	return s, nil
}
