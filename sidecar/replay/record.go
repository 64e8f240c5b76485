// Package replay reads recorded replies with the very code that serves: to explain one, to
// compare two rule sets over many, to write a test of one. It asks no model server and
// serves no requests.
package replay

import (
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

// Record is a reply to be explained or compared. Message and Chunks are what a
// server sends: a message object, or chat.completion.chunk objects; Input is text
// of the model alone. Tools holds names or OpenAI tool objects; [] means that none
// was offered, null that this is unknown. Model, Server and User are what conditions
// see. Workspace is where the gateway said that the agent works; empty: as paths.yaml has
// it. Expect is for eval.
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
	deltas  []parse.Delta  // what the reply consists of
	finish  string         // why it ended, if it says so
	decided []TreeDecision // of each call that was judged, in order
}

// read lets the strategies of a profile read the reply, as a turn does. Calls that the
// policy denies are among the calls unless it is enforced.
func (rec *Record) read(set *ruleset.Set, in guard.World, profile string, enforce bool) (*seen, error) {
	profile = cmp.Or(profile, set.ProfileFor(rec.Model))
	catalog, err := rec.catalog(set)
	if err != nil {
		return nil, err
	}
	out := &seen{catalog: catalog}
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

// facts are what the reader knows of the request.
func (rec *Record) facts(set *ruleset.Set) parse.Facts {
	f := set.Facts(rec.Model, rec.Server, rec.User)
	f.Intact, f.Asked, f.Formatted = rec.Intact, rec.Asked, rec.Formatted
	return f
}

// subject is who asked; if unknown, a person who can answer.
func (rec *Record) subject() policy.Subject {
	if rec.Who == (policy.Subject{}) {
		return policy.Subject{Model: rec.Model, Interactive: true}
	}
	return rec.Who
}

// take notes what the reply consists of. Choices beside the first do not count.
func (s *seen) take(p *turn.Piece) {
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

// documents are the chunks of the record, its message as one, and the model's text as
// chunks.
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

// pieces are the text of the model as it came.
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
	list, err := rec.Offered()
	switch {
	case err != nil:
		return nil, err
	case list == nil:
		return tools.OpenCatalog(set.Tools), nil
	}
	return tools.NewCatalog(set.Tools, nil, list), nil
}

// Offered are the tools that the record says were offered; nil: unknown.
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
