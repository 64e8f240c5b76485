package ruleset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Recording is a reply and what the rules made of it.
type Recording struct {
	Name    string        // of the test
	Profile string        // empty: the default one
	Reply   parse.Delta   // all of it
	Finish  string        // as the server ended it
	Tools   []tools.Tool  // offered; nil: not known
	Denied  []string      // ids of the rules of exec.yaml that deny a call
	Reading parse.Reading // with the calls that are denied
}

// AppendTest writes the test that holds a reading as it is now to the end of a
// test file; an empty file gets its head.
func AppendTest(file string, r Recording) (string, error) {
	test := &yaml.Node{Kind: yaml.MappingNode}
	add(test, "name", scalar(r.Name))
	if r.Profile != "" && r.Profile != DefaultProfile {
		add(test, "profile", scalar(r.Profile))
	}
	add(test, "reply", replyNode(r))
	if err := addTools(test, r.Tools); err != nil {
		return "", err
	}
	if err := addReading(test, &r.Reading); err != nil {
		return "", err
	}
	if len(r.Denied) > 0 {
		add(test, "denied", words(r.Denied))
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode([]*yaml.Node{test}); err != nil {
		return "", fmt.Errorf("write test %s: %w", r.Name, err)
	}
	if strings.TrimSpace(file) == "" {
		file = "# yaml-language-server: $schema=../schemas/tests.schema.json\nversion: 1\n\ntests:\n"
	} else {
		file = strings.TrimRight(file, "\n") + "\n\n"
	}
	for line := range strings.Lines(out.String()) {
		if strings.TrimSpace(line) != "" {
			line = "  " + line
		}
		file += line
	}
	return file, nil
}

func replyNode(r Recording) *yaml.Node {
	reply := &yaml.Node{Kind: yaml.MappingNode}
	if r.Reply.Content != "" {
		add(reply, "content", scalar(r.Reply.Content))
	}
	if r.Reply.Reasoning != "" {
		add(reply, "reasoning", scalar(r.Reply.Reasoning))
	}
	calls := &yaml.Node{Kind: yaml.SequenceNode}
	for _, c := range whole(r.Reply.Calls) {
		call := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		add(call, "name", scalar(c.Name))
		add(call, "arguments", scalar(c.Arguments))
		calls.Content = append(calls.Content, call)
	}
	if len(calls.Content) > 0 {
		add(reply, "calls", calls)
	}
	if r.Finish != "" && r.Finish != (&replyRule{Calls: whole(r.Reply.Calls)}).finish() {
		add(reply, "finish", scalar(r.Finish))
	}
	return reply
}

// whole puts the pieces of calls together.
func whole(pieces []parse.CallDelta) (out []exampleCall) {
	at := map[int]int{}
	for _, p := range pieces {
		i, known := at[p.Index]
		if !known {
			i = len(out)
			at[p.Index] = i
			out = append(out, exampleCall{})
		}
		out[i].Name += p.Name
		out[i].Arguments += string(p.Arguments)
	}
	return out
}

func addTools(test *yaml.Node, offered []tools.Tool) error {
	if offered == nil {
		return nil
	}
	names := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	schemas := &yaml.Node{Kind: yaml.MappingNode}
	for _, t := range offered {
		names.Content = append(names.Content, scalar(t.Name))
		if len(t.Parameters) == 0 {
			continue
		}
		schema, err := jsonNode(t.Parameters)
		if err != nil {
			return fmt.Errorf("parameters of %s: %w", t.Name, err)
		}
		add(schemas, t.Name, schema)
	}
	add(test, "tools", names)
	if len(schemas.Content) > 0 {
		add(test, "parameters", schemas)
	}
	return nil
}

func addReading(test *yaml.Node, r *parse.Reading) error {
	gives := &yaml.Node{Kind: yaml.SequenceNode}
	by := ""
	for i := range r.Calls {
		c := &r.Calls[i]
		args, err := jsonNode(c.Arguments)
		if err != nil {
			return fmt.Errorf("arguments of %s: %w", c.Name, err)
		}
		call := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		add(call, "tool", scalar(c.Name))
		add(call, "args", args)
		gives.Content = append(gives.Content, call)
		if i > 0 && c.Strategy != by {
			by = ""
		} else {
			by = c.Strategy
		}
	}
	if len(gives.Content) == 0 {
		gives.Style = yaml.FlowStyle
	}
	add(test, "gives", gives)
	if by != "" {
		add(test, "by", scalar(by))
	}
	add(test, "shows", scalar(r.Content))
	add(test, "thinks", scalar(r.Reasoning))
	if codes := codesOf(r.Refused); len(codes) > 0 {
		add(test, "refused", words(codes))
	}
	if r.Done {
		add(test, "done", &yaml.Node{Kind: yaml.ScalarNode, Value: "true"})
	}
	return nil
}

// words is a list of texts on one line.
func words(list []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, s := range list {
		n.Content = append(n.Content, scalar(s))
	}
	return n
}

func add(mapping *yaml.Node, key string, value *yaml.Node) {
	mapping.Content = append(mapping.Content, scalar(key), value)
}

// scalar is a text, quoted where YAML would take it for something else.
func scalar(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	if n.Style == 0 && strings.ContainsAny(s, "#:{}[],&*!|>'\"%@`?\\") || s == "" {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// jsonNode is a JSON value as YAML in flow style. JSON without needless escapes is YAML.
func jsonNode(doc []byte) (*yaml.Node, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	var n yaml.Node
	if err := yaml.Unmarshal(plain.Bytes(), &n); err != nil {
		return nil, err
	}
	return n.Content[0], nil
}
