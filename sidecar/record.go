package sidecar

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/plainjson"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Record is a reply to be explained or compared. Message and Chunks are what a
// server sends: a message object, or chat.completion.chunk objects; Input is text
// of the model alone. Tools holds names or OpenAI tool objects; [] means that none
// was offered, null that nobody knows. Model, Server and User are what conditions
// see. Expect is for Compare.
type Record struct {
	ID       json.RawMessage   `json:"id"`
	Message  json.RawMessage   `json:"message"`
	Chunks   []json.RawMessage `json:"chunks"`
	Input    *RecordInput      `json:"input"`
	Tools    []json.RawMessage `json:"tools"`
	Model    string            `json:"model"`
	Server   string            `json:"server"`
	User     string            `json:"user"`
	Finish   string            `json:"finish_reason"`
	Upstream *struct {
		Status int             `json:"status"`
		Body   json.RawMessage `json:"body"`
	} `json:"upstream_error"`
	Expect json.RawMessage `json:"expect"`
}

// RecordInput is text of the model: whole, in pieces, or in pieces of base64 that
// may split a character. Tools counts where the record itself names none.
type RecordInput struct {
	Text   *string           `json:"text"`
	Chunks []string          `json:"chunks"`
	Base64 []string          `json:"chunks_b64"`
	Tools  []json.RawMessage `json:"tools"`
}

// Shape is what a reply consists of, before anything is read into it.
type Shape struct {
	Content   Length `json:"content"`
	Reasoning Length `json:"reasoning"`
	ToolCalls int    `json:"tool_calls"`       // the server's own
	Status    int    `json:"status,omitempty"` // of the server's error that a reply was recovered from
}

// Length is how long a text is.
type Length struct {
	Bytes      int `json:"bytes"`
	Characters int `json:"characters"`
}

func (l *Length) add(s string) {
	l.Bytes += len(s)
	l.Characters += utf8.RuneCountInString(s)
}

// seen is a record as a rule set reads it.
type seen struct {
	reading parse.Reading
	catalog *tools.Catalog
	shape   Shape
	decided []TreeDecision // of each call that was judged, in order
}

// read lets the strategies of a profile read the reply, with the code that serves.
// Calls that the policy denies are among the calls unless it is enforced.
func (rec *Record) read(set *ruleset.Set, in guard.World, profile string, enforce bool) (*seen, error) {
	catalog, err := rec.catalog(set)
	if err != nil {
		return nil, err
	}
	out := &seen{catalog: catalog}
	who := policy.Subject{Model: rec.Model, Interactive: true}
	judge := in.Judge(set, who, func(c *tools.Call, d policy.Decision) bool {
		d.Facts = nil // a tree shows the decision; explain --command shows the facts
		out.decided = append(out.decided, TreeDecision{c.Name, d})
		return enforce && d.Effect == policy.Deny
	})
	r := set.Strategies(profile).Reader(catalog, parse.Facts{
		Model: rec.Model, Server: rec.Server, User: rec.User, MaxText: set.Limits.TextBytes, MaxDepth: set.Limits.Depth,
		Judge: judge,
	})
	calls := map[int]bool{}
	feed := func(d parse.Delta) {
		out.shape.Content.add(d.Content)
		out.shape.Reasoning.add(d.Reasoning)
		for _, c := range d.Calls {
			calls[c.Index] = true
		}
		out.shape.ToolCalls = len(calls)
		r.Feed(d)
	}
	finish, err := rec.deltas(feed)
	if err != nil {
		return nil, err
	}
	if out.shape == (Shape{}) && rec.Upstream != nil {
		if found, ok := upstream.Recover(set.Server(""), rec.Upstream.Status, rec.Upstream.Body); ok {
			recovered(r, &found)
			out.shape.Status = rec.Upstream.Status
		}
	}
	if rec.Finish != "" {
		finish = rec.Finish
	}
	out.reading, _ = r.Close(finish)
	return out, nil
}

// deltas passes on what the reply consists of.
func (rec *Record) deltas(feed func(parse.Delta)) (finish string, err error) {
	docs := rec.Chunks
	if len(rec.Message) > 0 && string(rec.Message) != "null" {
		docs = append(docs, fmt.Appendf(nil, `{"choices":[{"index":0,"message":%s}]}`, rec.Message))
	}
	for i, doc := range docs {
		var c openai.Completion
		if err := c.Parse(doc); err != nil {
			return "", fmt.Errorf("chunks[%d]: %w", i, err)
		}
		for k := range c.Choices {
			ch := &c.Choices[k]
			if ch.Index != 0 {
				continue
			}
			feed(deltaOf(ch))
			if ch.Finish != "" {
				finish = ch.Finish
			}
		}
	}
	if rec.Input != nil {
		err = rec.Input.deltas(feed)
	}
	return finish, err
}

func (in *RecordInput) deltas(feed func(parse.Delta)) error {
	if in.Text != nil {
		feed(parse.Delta{Content: *in.Text})
	}
	for _, piece := range in.Chunks {
		feed(parse.Delta{Content: piece})
	}
	var bytes []byte // whole, since JSON could not carry half a character either
	for i, piece := range in.Base64 {
		b, err := base64.StdEncoding.DecodeString(piece)
		if err != nil {
			return fmt.Errorf("input.chunks_b64[%d]: %w", i, err)
		}
		bytes = append(bytes, b...)
	}
	feed(parse.Delta{Content: strings.ToValidUTF8(string(bytes), "\uFFFD")})
	return nil
}

// check says why there is no reply to read in the record.
func (rec *Record) check() error {
	said := len(rec.Message) > 0 && string(rec.Message) != "null"
	switch {
	case said && rec.Message[0] != '{':
		return errors.New("message is no object")
	case !said && rec.Chunks == nil && rec.Input == nil && rec.Upstream == nil:
		return errors.New("there is no reply in it: none of message, chunks, input, upstream_error")
	case rec.Input != nil && rec.Input.Text == nil && rec.Input.Chunks == nil && rec.Input.Base64 == nil:
		return errors.New("there is no reply in input: none of text, chunks, chunks_b64")
	}
	for i, c := range rec.Chunks {
		if len(c) == 0 || c[0] != '{' {
			return fmt.Errorf("chunks[%d] is no object", i)
		}
	}
	return nil
}

// catalog makes the catalog of the tools that the record says were offered.
func (rec *Record) catalog(set *ruleset.Set) (*tools.Catalog, error) {
	list, err := rec.offered()
	switch {
	case err != nil:
		return nil, err
	case list == nil:
		return tools.OpenCatalog(set.Tools), nil
	}
	return tools.NewCatalog(set.Tools, nil, list), nil
}

// offered are the tools that the record says were offered; nil where nobody knows.
func (rec *Record) offered() ([]tools.Tool, error) {
	raw := rec.Tools
	if raw == nil && rec.Input != nil {
		raw = rec.Input.Tools
	}
	if raw == nil {
		return nil, nil
	}
	list := make([]tools.Tool, len(raw))
	for i := range raw {
		var err error
		if list[i], err = offeredTool(raw[i]); err != nil {
			return nil, fmt.Errorf("tools[%d] %w", i, err)
		}
	}
	return list, nil
}

// offeredTool is a name, a tool object of OpenAI, or the function inside of one.
func offeredTool(raw json.RawMessage) (tools.Tool, error) {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return tools.Tool{Name: name}, nil
	}
	type function struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	}
	var o struct {
		function
		Function function `json:"function"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return tools.Tool{}, fmt.Errorf("is neither a name nor a tool: %w", plainjson.Error(err))
	}
	f := o.function
	if o.Function.Name != "" {
		f = o.Function
	}
	if f.Name == "" {
		return tools.Tool{}, errors.New("has no name")
	}
	return tools.Tool{Name: f.Name, Parameters: f.Parameters}, nil
}
