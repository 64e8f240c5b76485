package rulefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// Entries are a mapping to be written, in order.
type Entries []entry

type entry struct {
	key   string
	value any
}

// Add puts a key and its value to the end: a string, a bool, JSON (json.RawMessage), a list
// of strings, which is put on one line, another mapping, or a list of mappings, each of
// which is put on one line.
func (m *Entries) Add(key string, value any) { *m = append(*m, entry{key, value}) }

// Item writes a mapping as an item of a list below a key, indented by two spaces.
func Item(item Entries) (string, error) {
	node, err := item.node(0)
	if err != nil {
		return "", err
	}
	var doc bytes.Buffer
	enc := yaml.NewEncoder(&doc)
	enc.SetIndent(2)
	if err := enc.Encode([]*yaml.Node{node}); err != nil {
		return "", err
	}
	var out strings.Builder
	for line := range strings.Lines(doc.String()) {
		if strings.TrimSpace(line) != "" {
			line = "  " + line
		}
		out.WriteString(line)
	}
	return out.String(), nil
}

func (m Entries) node(style yaml.Style) (*yaml.Node, error) {
	out := &yaml.Node{Kind: yaml.MappingNode, Style: style}
	for _, e := range m {
		value, err := yamlOf(e.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.key, err)
		}
		out.Content = append(out.Content, scalar(e.key), value)
	}
	return out, nil
}

// yamlOf is the node of a value of an entry.
func yamlOf(value any) (*yaml.Node, error) {
	switch v := value.(type) {
	case string:
		return scalar(v), nil
	case json.RawMessage:
		return jsonNode(v)
	case []string:
		list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, s := range v {
			list.Content = append(list.Content, scalar(s))
		}
		return list, nil
	case Entries:
		return v.node(0)
	case []Entries:
		list := &yaml.Node{Kind: yaml.SequenceNode}
		if len(v) == 0 {
			list.Style = yaml.FlowStyle
		}
		for _, m := range v {
			one, err := m.node(yaml.FlowStyle)
			if err != nil {
				return nil, err
			}
			list.Content = append(list.Content, one)
		}
		return list, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(value)}, nil
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
