package sidecar

import (
	"encoding/json"
	"fmt"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Record is a reply to be explained. Message and Chunks are what a server sends:
// a message object, or chat.completion.chunk objects. Tools holds names or OpenAI
// tool objects; [] means that none was offered, null that nobody knows.
type Record struct {
	ID       json.RawMessage   `json:"id"`
	Message  json.RawMessage   `json:"message"`
	Chunks   []json.RawMessage `json:"chunks"`
	Tools    []json.RawMessage `json:"tools"`
	Finish   string            `json:"finish_reason"`
	Upstream *struct {
		Status int             `json:"status"`
		Body   json.RawMessage `json:"body"`
	} `json:"upstream_error"`
}

// Explained is how a reply is read.
type Explained struct {
	ID        json.RawMessage `json:"id,omitempty"`
	Calls     []ExplainedCall `json:"calls"`
	Content   string          `json:"content"`
	Reasoning string          `json:"reasoning"`
	Finish    string          `json:"finish_reason"`
	Refused   []tools.Refusal `json:"-"`
	Trace     []parse.Step    `json:"trace"`
	Version   string          `json:"rules_version"`
}

// ExplainedCall is one call of it.
type ExplainedCall struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Strategy   string          `json:"strategy"`
	Confidence float64         `json:"confidence"`
	Repairs    []tools.Repair  `json:"repairs"`
}

// Explain reads a reply with the very code that serves.
func Explain(set *ruleset.Set, profile string, rec *Record) (*Explained, error) {
	catalog, err := rec.catalog(set)
	if err != nil {
		return nil, err
	}
	r := set.Strategies(profile).Reader(catalog, parse.Facts{MaxText: set.Limits.TextBytes, MaxDepth: set.Limits.Depth})
	finish, fed, err := rec.feed(r)
	if err != nil {
		return nil, err
	}
	if !fed && rec.Upstream != nil {
		if found, ok := upstream.Recover(set.Server(""), rec.Upstream.Status, rec.Upstream.Body); ok {
			recovered(r, &found)
		}
	}
	if rec.Finish != "" {
		finish = rec.Finish
	}
	reading, _ := r.Close(finish)
	out := &Explained{
		ID: rec.ID, Calls: []ExplainedCall{}, Content: reading.Content, Reasoning: reading.Reasoning,
		Finish: reading.Finish, Refused: reading.Refused, Trace: reading.Steps, Version: set.Version,
	}
	if out.Trace == nil {
		out.Trace = []parse.Step{}
	}
	for _, c := range reading.Calls {
		e := ExplainedCall{openai.NewCallID(), c.Name, c.Arguments, c.Strategy, c.Confidence, c.Repairs}
		if e.Repairs == nil {
			e.Repairs = []tools.Repair{}
		}
		out.Calls = append(out.Calls, e)
	}
	return out, nil
}

// catalog makes the catalog of the tools that the record says were offered.
func (rec *Record) catalog(set *ruleset.Set) (*tools.Catalog, error) {
	list, err := rec.offered()
	if err != nil {
		return nil, err
	}
	if list == nil {
		return tools.OpenCatalog(set.Tools), nil
	}
	return tools.NewCatalog(set.Tools, nil, list), nil
}

// offered are the tools that the record says were offered; nil where nobody knows.
func (rec *Record) offered() ([]tools.Tool, error) {
	if rec.Tools == nil {
		return nil, nil
	}
	list := []tools.Tool{}
	for i, raw := range rec.Tools {
		var name string
		if json.Unmarshal(raw, &name) == nil {
			list = append(list, tools.Tool{Name: name})
			continue
		}
		var o struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
			Function   struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"function"`
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			return nil, fmt.Errorf("tools[%d] is neither a name nor a tool: %w", i, err)
		}
		if o.Function.Name != "" {
			o.Name, o.Parameters = o.Function.Name, o.Function.Parameters
		}
		if o.Name == "" {
			return nil, fmt.Errorf("tools[%d] has no name", i)
		}
		list = append(list, tools.Tool{Name: o.Name, Parameters: o.Parameters})
	}
	return list, nil
}

// feed passes the reply to the reader. fed says that there was one.
func (rec *Record) feed(r *parse.Reader) (finish string, fed bool, err error) {
	finish, err = rec.deltas(func(d parse.Delta) {
		fed = fed || d.Content != "" || d.Reasoning != "" || len(d.Calls) > 0
		r.Feed(d)
	})
	return finish, fed, err
}

// deltas gives the pieces of the first choice, in order.
func (rec *Record) deltas(each func(parse.Delta)) (finish string, err error) {
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
			each(deltaOf(ch))
			if ch.Finish != "" {
				finish = ch.Finish
			}
		}
	}
	return finish, nil
}

// Recording reads a reply as Explain does, and gives what a test of it must hold.
func Recording(set *ruleset.Set, profile, name string, rec *Record) (ruleset.Recording, error) {
	offered, err := rec.offered()
	if err != nil {
		return ruleset.Recording{}, err
	}
	out := ruleset.Recording{Name: name, Profile: profile, Tools: offered}
	out.Finish, err = rec.deltas(func(d parse.Delta) {
		out.Reply.Content += d.Content
		out.Reply.Reasoning += d.Reasoning
		out.Reply.Calls = append(out.Reply.Calls, d.Calls...)
	})
	if err != nil {
		return ruleset.Recording{}, err
	}
	if rec.Finish != "" {
		out.Finish = rec.Finish
	}
	catalog, err := rec.catalog(set)
	if err != nil {
		return ruleset.Recording{}, err
	}
	r := set.Strategies(profile).Reader(catalog, parse.Facts{MaxText: set.Limits.TextBytes, MaxDepth: set.Limits.Depth})
	r.Feed(out.Reply)
	out.Reading, _ = r.Close(out.Finish)
	return out, nil
}
