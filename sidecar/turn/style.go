package turn

import (
	"context"
	"errors"
	"hash/fnv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// write writes the request for the model server: with the tools of the caller, or in a style, with their
// names and schemas in words.
func (t *Turn) write(ctx context.Context) error {
	t.style = t.chooseStyle(ctx)
	req, err := t.withPrompts()
	if err != nil {
		return err
	}
	h := &t.known.History
	if *h = (ruleset.History{}); t.family != nil {
		*h = t.family.History
	}
	h.Strict = h.Strict && t.srv.SetStrict && t.style == nil && t.agent && t.up.Takes(t.Model.Name, "strict")
	t.body = openai.Apply(req.Body, upstream.Prepare(req, t.srv, t.Model, t.known, t.catalog))
	if t.style == nil {
		return nil
	}
	if t.body, err = t.style.Form.Write(t.body, upstream.Masked); err != nil {
		return openai.Internal("style " + t.style.ID + ": " + err.Error())
	}
	return nil
}

// chooseStyle returns the style of the request; nil: there are no tools, or the server calls them itself.
func (t *Turn) chooseStyle(ctx context.Context) *ruleset.Style {
	if !t.agent && !t.usedTools() {
		return nil
	}
	style, err := t.set.Style(t.Model, ruleset.StyleEnv{
		Model: t.Model.ID.Value, Server: t.srv.ID.Value, Native: t.up.Takes(t.Model.Name, "tools"),
		Part: t.bucket,
	})
	if err != nil {
		t.log.WarnContext(ctx, "a choice of a style could not be evaluated", "event",
			"style_unchosen", "detail", err.Error(), "rules", t.set.Version)
	}
	if style != nil && style.Schema && !t.up.FollowsSchema(ctx, t.set, t.srv, t.Model) {
		return style.Otherwise
	}
	return style
}

// usedTools reports whether the conversation has calls or results.
func (t *Turn) usedTools() bool {
	for i := range t.req.Messages {
		if m := &t.req.Messages[i]; m.Role == "tool" || len(m.Calls) > 0 {
			return true
		}
	}
	return false
}

// bucketOf maps a name to 0 to 99.
func bucketOf(name string) int {
	h := fnv.New32a()
	h.Write([]byte(name)) // it never fails
	return int(h.Sum32() % 100)
}

// withPrompts returns the request with the prompts of model and style in front, and with the schema of the
// style.
func (t *Turn) withPrompts() (*openai.Request, error) {
	facts := prompt.Facts{Model: t.Model.ID.Value, Now: time.Now()}
	own := t.set.Prompts[t.Model.Prompt.Value]
	if t.agent && (own != nil || t.style != nil) {
		facts.Tools = prompt.Offered(t.req)
	}
	var names []string
	say := func(p *prompt.Prompt) error {
		text, err := p.Say(facts)
		if err != nil {
			return openai.Internal("model " + t.Model.ID.Value + ": " + err.Error())
		}
		if text != "" {
			names = append(names, text)
		}
		return nil
	}
	if own != nil {
		if err := say(own); err != nil {
			return nil, err
		}
	}
	if t.style == nil || len(facts.Tools) == 0 {
		return withSystem(t.req, strings.Join(names, "\n\n"))
	}
	if t.style.Form != own {
		if err := say(t.style.Form); err != nil {
			return nil, err
		}
	}
	req, err := withSystem(t.req, strings.Join(names, "\n\n"))
	if err != nil || !t.style.Schema {
		return req, err
	}
	return upstream.WithSchema(req, prompt.Schema(facts.Tools, prompt.Bound{
		Several: t.style.Several, Must: t.forced, Only: t.req.ToolName,
	}))
}

// withSystem returns the request with a system message in front of the others.
func withSystem(req *openai.Request, text string) (*openai.Request, error) {
	if text == "" {
		return req, nil
	}
	at := req.Messages[0].From
	message := openai.AppendString([]byte(`{"role":"system","content":`), text)
	return openai.ParseRequest(openai.Apply(req.Body, []openai.Edit{
		{Span: openai.Span{From: at, To: at}, With: append(message, "},"...)},
	}))
}

// profile returns the profile of strategies that reads the reply.
func (t *Turn) profile() string {
	switch {
	case t.style != nil:
		return t.style.Profile
	case t.Model.Profile.Value == "" && t.family != nil:
		return t.family.Name
	}
	return t.Model.Profile.Value
}

// changeStyle writes the request in another style if the error says that the server cannot call tools or
// rejects the schema, and without strict tools if it rejects them. It reports whether it did.
func (t *Turn) changeStyle(ctx context.Context, err error) (bool, error) {
	var f *upstream.Failure
	if t.spoke || t.req == nil || !errors.As(err, &f) {
		return false, nil
	}
	was, from := t.style, styleID(t.style)
	switch {
	case was == nil && f.NoTools && t.agent:
		t.up.Refused(t.Model.Name, "tools")
	case t.known.Strict && f.Fault == ruleset.Rejected:
		from = "strict"
		t.up.Refused(t.Model.Name, from)
	case was != nil && was.Schema && f.Fault == ruleset.Rejected:
		t.up.IgnoresSchema(t.srv, t.Model)
	default:
		return false, nil
	}
	if err := t.write(ctx); err != nil || styleID(t.style) == from {
		return false, err
	}
	t.log.WarnContext(ctx, "the model server refuses the request; it is asked in another style", "event",
		"style_changed", "model", t.Model.ID.Value,
		"server", t.srv.ID.Value, "from", from, "to", styleID(t.style), "detail", f.Why,
		"tools", strings.Join(t.hardSchemas(), " "), "rules", t.set.Version)
	return true, nil
}

// hardSchemas returns the offered tools with schemas that servers may fail to turn into a grammar.
func (t *Turn) hardSchemas() (names []string) {
	for _, tool := range t.offered {
		if !upstream.Bindable(gjson.ParseBytes(tool.Parameters)) {
			names = append(names, tool.Name)
		}
	}
	return names
}

func styleID(s *ruleset.Style) string {
	if s == nil {
		return ruleset.Native
	}
	return s.ID
}

// checkSchema notes a reply that did not follow its schema: it has neither a call nor the word that it is
// done.
func (t *Turn) checkSchema(r *parse.Reading) {
	if t.style == nil || !t.style.Schema || !t.agent || r.Empty() || r.Done ||
		len(r.Calls)+len(r.Refused) > 0 ||
		r.Cut != "" || r.Finish == "length" {
		return
	}
	t.up.IgnoresSchema(t.srv, t.Model)
	t.log.Warn("the model server does not follow the JSON Schema of its style; the next request uses another one", "event", "schema_ignored",
		"model", t.Model.ID.Value, "server", t.srv.ID.Value, "style", t.style.ID,
		"next", t.style.Otherwise.ID, "rules", t.set.Version)
}
