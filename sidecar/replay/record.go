// Package replay reads recorded replies with the code that serves: to explain one, to compare two rule sets
// over many, or to write a test. It asks no model server and serves no requests.
package replay

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Record is a reply to be explained or compared. Message and Chunks are what a server sends: a message
// object, or chat.completion.chunk objects; Input is text of the model only. Tools holds names or OpenAI
// tool objects; [] means that none was offered, null that this is unknown. Conditions see Model, Server and
// User. Workspace is what the gateway named; empty: that of paths.yaml. Expect is for eval.
type Record struct {
	ID        json.RawMessage   `json:"id"`
	Message   json.RawMessage   `json:"message"`
	Chunks    []json.RawMessage `json:"chunks"`
	Input     *RecordInput      `json:"input"`
	Tools     []json.RawMessage `json:"tools"`
	Model     string            `json:"model"`
	Server    string            `json:"server"`
	User      string            `json:"user"`
	Workspace string            `json:"workspace"`
	Finish    string            `json:"finish_reason"`
	Upstream  *struct {
		Status int             `json:"status"`
		Body   json.RawMessage `json:"body"`
	} `json:"upstream_error"`
	Expect json.RawMessage `json:"expect"`

	// What is known of a reply that was served: see parse.Facts, and who had asked.
	Intact, Asked, Formatted bool           `json:"-"`
	Who                      policy.Subject `json:"-"`
}

// RecordInput is text of the model: whole, in pieces, or in pieces of base64 that may split a character.
// Tools counts if the record has none.
type RecordInput struct {
	Text   *string           `json:"text"`
	Chunks []string          `json:"chunks"`
	Base64 []string          `json:"chunks_b64"`
	Tools  []json.RawMessage `json:"tools"`
}

// Shape is what a reply consists of.
type Shape struct {
	Content   Length `json:"content"`
	Reasoning Length `json:"reasoning"`
	ToolCalls int    `json:"tool_calls"`       // made by the server
	Status    int    `json:"status,omitempty"` // of the server's error from which a reply was recovered
}

// Length is the length of a text.
type Length struct {
	Bytes      int `json:"bytes"`
	Characters int `json:"characters"`
}

func (l *Length) add(s string) {
	l.Bytes += len(s)
	l.Characters += utf8.RuneCountInString(s)
}

// recordReading is a record as a rule set reads it.
type recordReading struct {
	reading parse.Reading
	catalog *tools.Catalog
	shape   Shape
	deltas  []parse.Delta  // of the reply
	finish  string         // finish_reason, if there is one
	decided []TreeDecision // decisions about calls, in order
}

// read reads the reply like a turn, with a profile's strategies. Calls that the policy denies count as
// calls unless it is enforced.
func (rec *Record) read(set *ruleset.Set, in guard.World, profile string, enforce bool) (*recordReading,
	error) {
	profile = cmp.Or(profile, set.ProfileFor(rec.Model))
	catalog, err := rec.catalog(set)
	if err != nil {
		return nil, err
	}
	out := &recordReading{catalog: catalog}
	facts := rec.facts(set)
	facts.Judge = in.WithFolder(set, rec.Workspace).Judge(set, rec.subject(),
		func(c *tools.Call, d policy.Decision) bool {
			d.Facts = nil // a tree shows the decision; policy explain shows the facts
			out.decided = append(out.decided, TreeDecision{c.Name, d})
			return enforce && d.Effect == policy.Deny
		})
	r := turn.NewReader(func() *parse.Reader { return set.Strategies(profile).Reader(catalog, facts) }, false,
		out.take)
	defer r.Close()
	docs, err := rec.documents()
	if err != nil {
		return nil, err
	}
	for i, doc := range docs {
		err := r.Event(doc, nil, false)
		var inside *turn.ErrorInside
		if errors.As(err, &inside) {
			if found, ok := upstream.Recover(set.Server(""), inside.Body); ok && r.Recovered(&found) {
				break
			}
		}
		if err != nil {
			return nil, fmt.Errorf("chunks[%d]: %w", i, err)
		}
	}
	if out.shape == (Shape{}) && rec.Upstream != nil && rec.Upstream.Status != 200 {
		if found, ok := upstream.Recover(set.Server(""), rec.Upstream.Body); ok {
			r.Recovered(&found)
			out.shape.Status = rec.Upstream.Status
		}
	}
	out.reading = r.End(rec.Finish)[0]
	return out, nil
}

// facts returns what the reader knows of the request.
func (rec *Record) facts(set *ruleset.Set) parse.Facts {
	f := set.Facts(rec.Model, rec.Server, rec.User)
	f.Intact, f.Asked, f.Formatted = rec.Intact, rec.Asked, rec.Formatted
	return f
}

// subject returns who asked; if unknown, a person who can answer.
func (rec *Record) subject() policy.Subject {
	if rec.Who == (policy.Subject{}) {
		return policy.Subject{Model: rec.Model, Interactive: true}
	}
	return rec.Who
}

// take records what the first choice consists of.
func (s *recordReading) take(p *turn.Piece) {
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.Choice != 0 || part.Source == nil {
			continue
		}
		s.shape.Content.add(part.Delta.Content)
		s.shape.Reasoning.add(part.Delta.Reasoning)
		for _, c := range part.Delta.Calls {
			s.shape.ToolCalls = max(s.shape.ToolCalls, c.Index+1)
		}
		part.Delta.Calls = slices.Clone(part.Delta.Calls) // the part is gone when this returns
		s.deltas = append(s.deltas, part.Delta)
		s.finish = cmp.Or(part.Source.Finish, s.finish)
	}
}

// documents returns the chunks of the record, and its message and text as chunks.
func (rec *Record) documents() ([]json.RawMessage, error) {
	docs := slices.Clone(rec.Chunks)
	if len(rec.Message) > 0 && string(rec.Message) != "null" {
		docs = append(docs, fmt.Appendf(nil, `{"choices":[{"index":0,"message":%s}]}`, rec.Message))
	}
	if rec.Input == nil {
		return docs, nil
	}
	pieces, err := rec.Input.pieces()
	for _, text := range pieces {
		doc := openai.AppendString([]byte(`{"choices":[{"index":0,"delta":{"content":`), text)
		docs = append(docs, append(doc, "}}]}"...))
	}
	return docs, err
}

// pieces returns the text of the model as it came.
func (in *RecordInput) pieces() (out []string, err error) {
	if in.Text != nil {
		out = append(out, *in.Text)
	}
	out = append(out, in.Chunks...)
	var bytes []byte // whole, since JSON could not carry half a character either
	for i, piece := range in.Base64 {
		b, err := base64.StdEncoding.DecodeString(piece)
		if err != nil {
			return nil, fmt.Errorf("input.chunks_b64[%d]: %w", i, err)
		}
		bytes = append(bytes, b...)
	}
	if bytes != nil {
		out = append(out, strings.ToValidUTF8(string(bytes), "\uFFFD"))
	}
	return out, nil
}

// check returns why the record has no reply.
func (rec *Record) check() error {
	hasMessage := len(rec.Message) > 0 && string(rec.Message) != "null"
	switch {
	case hasMessage && rec.Message[0] != '{':
		return errors.New("message is no object")
	case !hasMessage && rec.Chunks == nil && rec.Input == nil && rec.Upstream == nil:
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

// catalog returns the catalog of the offered tools.
func (rec *Record) catalog(set *ruleset.Set) (*tools.Catalog, error) {
	list, err := rec.Offered()
	switch {
	case err != nil:
		return nil, err
	case list == nil:
		return tools.OpenCatalog(set.Tools), nil
	}
	return tools.NewCatalog(set.Tools, nil, list), nil
}

// Offered returns the offered tools; nil: unknown.
func (rec *Record) Offered() ([]tools.Tool, error) {
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

// offeredTool reads a name, a tool object of OpenAI, or the function in one.
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
		return tools.Tool{}, fmt.Errorf("is neither a name nor a tool: %w", jsontext.Error(err))
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

// ParseRecord makes a record of any form of a reply.
func ParseRecord(doc []byte) (*Record, error) {
	text := bytes.TrimSpace(doc)
	if len(text) == 0 {
		return nil, errors.New("there is no reply to read")
	}
	var whole struct {
		Record
		Choices []struct {
			Message json.RawMessage `json:"message"`
			Finish  string          `json:"finish_reason"`
		} `json:"choices"`
		Content   json.RawMessage `json:"content"`
		ToolCalls json.RawMessage `json:"tool_calls"`
	}
	if text[0] == '{' && json.Unmarshal(text, &whole) == nil {
		rec := &whole.Record
		switch {
		case len(whole.Choices) > 0 && whole.Choices[0].Message == nil: // a piece of a stream
			rec.Chunks = []json.RawMessage{text}
			return rec, nil
		case len(whole.Choices) > 0:
			rec.Message, rec.Finish = whole.Choices[0].Message, whole.Choices[0].Finish
			return rec, nil
		case rec.Message != nil || rec.Chunks != nil || rec.Input != nil || rec.Upstream != nil:
			return rec, nil
		case whole.Content != nil || whole.ToolCalls != nil:
			rec.Message = text
			return rec, nil
		}
	}
	if bytes.HasPrefix(text, []byte("data:")) {
		rec := &Record{}
		for line := range strings.Lines(string(text)) {
			data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
			if data = strings.TrimSpace(data); ok && data != "[DONE]" {
				rec.Chunks = append(rec.Chunks, json.RawMessage(data))
			}
		}
		return rec, nil
	}
	message, err := json.Marshal(map[string]string{"content": string(doc)})
	return &Record{Message: message}, err
}

// RecordTest reads a reply like Explain and returns a test of it.
func RecordTest(set *ruleset.Set, in guard.World, profile, name string,
	rec *Record) (ruleset.Recording, error) {
	out := ruleset.Recording{Name: name, Profile: profile}
	var err error
	if out.Tools, err = rec.Offered(); err != nil {
		return out, err
	}
	read, err := rec.read(set, in, profile, false)
	if err != nil {
		return out, err
	}
	for _, d := range read.deltas {
		out.Reply.Content += d.Content
		out.Reply.Reasoning += d.Reasoning
		out.Reply.Calls = append(out.Reply.Calls, d.Calls...)
	}
	out.Finish, out.Reading = cmp.Or(read.finish, rec.Finish), read.reading
	for _, d := range read.decided {
		if d.Effect == policy.Deny {
			out.Denied = append(out.Denied, cmp.Or(d.Rule, "default"))
		}
	}
	return out, nil
}
