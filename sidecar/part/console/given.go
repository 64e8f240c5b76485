package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// Given is a reply from a form: pasted, typed, or taken from a turn.
type Given struct {
	Text      string // of the model; without the rest also the JSON of a server, as explain accepts it
	Reasoning string
	Calls     string // calls in the server's own format, as JSON; empty: none
	Finish    string
	Plain     bool // Text is always text of the model
}

// Empty reports whether there is nothing to read.
func (g *Given) Empty() bool {
	return strings.TrimSpace(g.Text) == "" && strings.TrimSpace(g.Reasoning) == "" &&
		strings.TrimSpace(g.Calls) == ""
}

// Record returns the reply as a record for replay.
func (g *Given) Record() (*replay.Record, error) {
	if !g.Plain && g.Reasoning == "" && strings.TrimSpace(g.Calls) == "" {
		rec, err := replay.ParseRecord([]byte(g.Text))
		if err == nil && g.Finish != "" {
			rec.Finish = g.Finish
		}
		return rec, err
	}
	message := map[string]any{"content": g.Text, "reasoning_content": g.Reasoning}
	calls, err := callsOf(g.Calls)
	if err != nil {
		return nil, err
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	doc, err := json.Marshal(message)
	return &replay.Record{Message: doc, Finish: g.Finish}, err
}

// call is a call in the server's own format: as OpenAI writes it, or only name and arguments.
type call struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"arguments"`
	Function *struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// callsOf parses a list of calls, one call, or a message with calls.
func callsOf(text string) ([]any, error) {
	doc := bytes.TrimSpace([]byte(text))
	if len(doc) == 0 {
		return nil, nil
	}
	if doc[0] == '{' {
		var message struct {
			Calls json.RawMessage `json:"tool_calls"`
		}
		if json.Unmarshal(doc, &message) == nil && message.Calls != nil {
			doc = message.Calls
		} else {
			doc = append(append([]byte{'['}, doc...), ']')
		}
	}
	var list []call
	if err := json.Unmarshal(doc, &list); err != nil {
		return nil, fmt.Errorf(`the calls are no JSON list such as [{"name": "read", "arguments": {"path": "a.md"}}]: %w`, jsontext.Error(err))
	}
	var out []any
	for i, c := range list {
		if c.Function != nil {
			c.Name, c.Args = c.Function.Name, c.Function.Args
		}
		var args string
		if json.Unmarshal(c.Args, &args) != nil { // an object instead of OpenAI's string
			args = string(c.Args)
		}
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d", i+1)
		}
		out = append(out, map[string]any{"index": i, "id": c.ID, "type": "function",
			"function": map[string]string{"name": c.Name, "arguments": args}})
	}
	return out, nil
}

// Tools parses a list of offered tools: JSON with names or tool objects, or names separated by commas or
// blanks. An empty list means that none was offered.
func Tools(text string) ([]json.RawMessage, error) {
	list := []json.RawMessage{}
	if doc := strings.TrimSpace(text); strings.HasPrefix(doc, "[") {
		if err := json.Unmarshal([]byte(doc), &list); err != nil {
			return nil, fmt.Errorf("the tools are no JSON list: %w", jsontext.Error(err))
		}
		return list, nil
	} else if strings.HasPrefix(doc, "{") {
		return nil, errors.New("the tools are one object; put brackets around it: [{…}]")
	}
	for _, name := range strings.FieldsFunc(text,
		func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' || r == '\r' }) {
		list = append(list, json.RawMessage(openai.AppendString(nil, name)))
	}
	return list, nil
}

// Three returns the tools that nearly every agent has.
func Three() []json.RawMessage {
	var out []json.RawMessage
	for _, t := range []struct{ name, parameters string }{
		{"exec", `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`},
		{"read", `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`},
		{"write", `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`},
	} {
		out = append(out, json.RawMessage(`{"name":"`+t.name+`","parameters":`+t.parameters+`}`))
	}
	return out
}

// Kinds of questions for the policy, instead of a reply.
const (
	command = "command"
	Path    = "path"
	URL     = "url"
)

// Question returns the call that a question is about, as policy explain builds it. ok is false for an
// unknown kind.
func Question(kind, text string) (tool string, args json.RawMessage, ok bool) {
	tool, ok = map[string]string{command: "exec", Path: "read", URL: "web_fetch"}[kind]
	if !ok {
		return "", nil, false
	}
	args = openai.AppendString([]byte(`{"`+kind+`":`), strings.TrimSpace(text))
	return tool, append(args, '}'), true
}
