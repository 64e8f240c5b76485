package rulefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Item writes a struct, by its json tags, as an item of a list below a key, indented by two spaces. A mapping
// in a list, and a list of texts, is on one line.
func Item(item any) (string, error) {
	node, err := nodeOf([]any{item})
	if err != nil {
		return "", err
	}
	restyle(node.Content[0].Content[0], 0)
	node.Content[0].Style = 0
	var doc bytes.Buffer
	enc := yaml.NewEncoder(&doc)
	enc.SetIndent(2)
	if err := enc.Encode(&node); err != nil {
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

// nodeOf converts a value to a node in the style of JSON.
func nodeOf(v any) (n yaml.Node, err error) {
	doc, err := json.Marshal(v)
	if err == nil {
		err = yaml.Unmarshal([]byte(escaped(string(doc))), &n)
	}
	return n, err
}

// escaped makes JSON valid YAML, which has other line breaks and forbids some characters.
func escaped(doc string) string {
	var b strings.Builder
	for _, r := range doc {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

var (
	plainText = regexp.MustCompile(`^[A-Za-z_][\w./-]*( [\w./-]+)*$`)
	// no blank in front, nothing invisible
	blockText = regexp.MustCompile(`^[^\s\pC\pZ]([^\pC\pZ]| |\n)*\n([^\pC\pZ]| |\n)*$`)
)

// flow is the depth from which everything is on one line.
const flow = 3

// restyle gives a node of JSON the style in which people write rules.
func restyle(n *yaml.Node, depth int) {
	plain := yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}
	switch {
	case n.Kind == yaml.MappingNode && depth < flow-1:
		n.Style = 0
		depth++
	case n.Kind == yaml.SequenceNode && depth < flow && len(n.Content) > 0 &&
		n.Content[0].Kind == yaml.MappingNode:
		n.Style = 0
		depth = flow
	case n.Kind != yaml.ScalarNode:
		depth = flow
	case n.ShortTag() != "!!str":
	case plainText.MatchString(n.Value) && plain.ShortTag() == "!!str":
		n.Style = 0
	case depth < flow && blockText.MatchString(n.Value):
		n.Style = yaml.LiteralStyle
	}
	for _, c := range n.Content {
		restyle(c, depth)
	}
}

// blocks writes a node in block style. A text that begins with white space stays in quotes: yaml.v3 3.0.1
// writes a wrong indentation for it.
func blocks(n *yaml.Node) (string, error) {
	var restyle func(n *yaml.Node)
	restyle = func(n *yaml.Node) {
		n.Style = 0
		if n.ShortTag() == "!!str" && strings.TrimLeftFunc(n.Value, unicode.IsSpace) != n.Value {
			n.Style = yaml.DoubleQuotedStyle
		}
		for _, c := range n.Content {
			restyle(c)
		}
	}
	restyle(n)
	doc, err := yaml.Marshal(n)
	return string(doc), err
}

// RawJSON is a JSON value as it was read.
type RawJSON []byte

// MarshalJSON removes needless escapes, which YAML does not know.
func (j RawJSON) MarshalJSON() ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(j))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
