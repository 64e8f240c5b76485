package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
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

// recordOf returns a reply as a record for replay, and the calls in the server's own format.
func recordOf(t *Turn, r *Reply) (*replay.Record, []experiment.ServerCall) {
	native := experiment.SaidOf(r.Whole.Calls)
	message := map[string]any{"content": r.Whole.Content,
		"reasoning_content": turn.ReasoningOf(&r.Whole, r.Thought)}
	if len(native) > 0 {
		var calls []any
		for _, c := range native {
			calls = append(calls, map[string]any{"id": c.ID, "type": "function",
				"function": map[string]string{"name": c.Name, "arguments": c.Arguments}})
		}
		message["tool_calls"] = calls
	}
	rec := &replay.Record{
		Model: t.Model, Server: r.Server, User: r.User, Workspace: r.Workspace, Finish: r.Finish,
		Intact: r.Intact, Asked: r.Asked, Formatted: r.Formatted,
		Who: policy.Subject{Model: t.Model, Client: t.Client, Agent: t.Agent, Channel: t.Channel,
			Session: t.Session, Run: t.Run != "", Interactive: true},
	}
	rec.Message, _ = json.Marshal(message) // it holds texts alone
	rec.Tools = offeredOf(r)
	return rec, native
}

// offeredOf returns the offered tools; nil: unknown.
func offeredOf(r *Reply) []json.RawMessage {
	if r.OfferedUnknown {
		return nil
	}
	out := []json.RawMessage{}
	for _, tool := range r.Offered {
		doc, _ := json.Marshal(map[string]any{"name": tool.Name, "parameters": parametersOf(tool)})
		out = append(out, doc)
	}
	return out
}

func parametersOf(t tools.Tool) json.RawMessage {
	if !json.Valid(t.Parameters) {
		return nil
	}
	return json.RawMessage(t.Parameters)
}

const (
	maxCalls  = 40   // of a reading that are shown; it may have thousands
	maxDiffer = 2000 // bytes of each side of a difference
	maxNamed  = 40   // tools that a name could mean
)

// playReading is a reading of a reply or an answer of the policy, by one rule set.
type playReading struct {
	readView
	Calls, Refused   []callView
	More             int // calls and refused ones that are not shown
	Content, Thought string
	Finish           string
	Asked            bool // the policy was asked, and there is no reply

	read      *replay.Shown
	explained *guard.Explanation
}

// compare reads the form by the rules in force, and by the draft if it differs.
func (c *Console) compare(p *playground) {
	p.Before, p.After, p.Differences, p.Unnamed, p.Offered, p.Wrong = nil, nil, nil, nil, nil, ""
	set := c.API.Rules.Set()
	p.Profiles = set.Profiles()
	f := &p.Form
	ask := c.question(f)
	if f.What == "reply" {
		p.Asked = !f.given().Empty()
	} else {
		p.Asked = strings.TrimSpace(f.Text) != ""
	}
	if !p.Asked {
		return
	}
	var err error
	if p.Before, err = ask(set); err == nil && p.Checked.Set != nil && p.Checked.Changed {
		p.After, err = ask(p.Checked.Set)
	}
	if err != nil {
		p.Wrong, p.Before, p.After = shown(err.Error()), nil, nil
		return
	}
	last := p.Before
	if p.After != nil {
		last = p.After
		if last.read != nil {
			p.Differences = differences(p.Before.read, last.read)
		} else {
			p.Differences = RulingDifferences(p.Before.explained, last.explained)
		}
		for i := range p.Differences {
			d := &p.Differences[i]
			d.What, d.Before, d.After = shown(d.What), clip(d.Before), clip(d.After)
		}
	}
	if last.read == nil {
		return
	}
	if p.Unnamed = Unnamed(last.read); len(p.Unnamed) > 0 {
		p.Offered = slices.Clone(last.read.Tree.Tools[:min(maxNamed, len(last.read.Tree.Tools))])
	}
}

// question returns a function that reads the form by a rule set.
func (c *Console) question(f *playForm) func(*ruleset.Set) (*playReading, error) {
	if tool, args, ok := Question(f.What, f.Text); ok {
		return func(set *ruleset.Set) (*playReading, error) {
			explained, err := c.API.World.Explain(set, "", tool, args, set.Confine() == ruleset.Always)
			if err != nil {
				return nil, err
			}
			return &playReading{readView: readView{Judged: []judgedView{judgedOf(explained)}}, Asked: true,
				explained: explained}, nil
		}
	}
	rec, err := c.record(f)
	return func(set *ruleset.Set) (*playReading, error) {
		if err != nil {
			return nil, err
		}
		if p := f.Profile; p != "" && !slices.Contains(set.Profiles(), p) {
			f.Profile = "" // the rules have it no more
		}
		return c.readBy(set, f.Profile, rec)
	}
}

func (c *Console) readBy(set *ruleset.Set, profile string, rec *replay.Record) (*playReading, error) {
	v := &playReading{}
	if v.read = v.readView.read(c.API.World, set, profile, rec, nil, false, fewJudged); v.read == nil {
		return nil, errors.New(v.Missing)
	}
	for i := range v.Judged {
		v.Judged[i].Idle = nil // a hundred rules for each call, on each pause; a question shows them
	}
	t := v.read.Tree
	for i, call := range t.Calls {
		if i == maxCalls {
			v.More += len(t.Calls) - i
			break
		}
		view := callOf(call.Name, call.Arguments)
		view.Strategy = call.Strategy
		view.Became = string(guard.OutcomeOf(&tools.Call{Name: call.Name, Arguments: call.Arguments,
			Repairs: call.Repairs}))
		for _, fix := range call.Repairs {
			if !guard.ByPolicy(fix) {
				view.Repairs = append(view.Repairs, shownRepair(fix))
			}
		}
		v.Calls = append(v.Calls, view)
	}
	for i, f := range t.Refused {
		if i == maxCalls {
			v.More += len(t.Refused) - i
			break
		}
		view := callOf(f.Name, []byte(f.Text))
		view.Became, view.Why = string(f.Code), shown(f.Why)
		v.Refused = append(v.Refused, view)
	}
	v.Content, v.Thought, v.Finish = shownHead(t.Content), shownHead(t.Reasoning), t.Finish
	return v, nil
}

// clip shortens one side of a difference.
func clip(s string) string {
	p := head(s, maxDiffer)
	if p.More > 0 {
		p.Text += "…"
	}
	return p.Text
}
