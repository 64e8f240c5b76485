package rulefile

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// ParseYAML parses YAML of another program into a tree with positions. A text without a value is an empty
// object.
func ParseYAML(text []byte) (*jsonc.Value, error) {
	y, err := openYAML(text)
	if err != nil {
		return nil, err
	}
	if y.root == nil {
		return &jsonc.Value{Kind: jsonc.Object}, nil
	}
	v := y.value(y.root, 0)
	return &v, nil
}

// SetYAML sets the value at a path, as jsonc.Set does for JSON. All other lines stay.
func SetYAML(text []byte, value any, path ...string) ([]byte, error) {
	y, err := openYAML(text)
	if err != nil {
		return nil, err
	}
	if y.root == nil {
		return y.addLines(len(y.lines), block(jsonc.Nested(value, path), "", y.newline)), nil
	}
	var key *yaml.Node // of n
	n := y.root
	for i, step := range path {
		child, childKey := entry(n, step)
		switch {
		case n.ShortTag() == "!!null" && key != nil:
			return y.fill(key, n, jsonc.Nested(value, path[i:])), nil
		case n.Kind != yaml.MappingNode && n.Kind != yaml.SequenceNode:
			return nil, y.wrong(n, "%s is %s, and must hold more values here", strings.Join(path[:i], "."),
				kindOf(n))
		case child == nil:
			return y.insert(n, step, jsonc.Nested(value, path[i+1:]))
		}
		n, key = child, childKey
	}
	v := y.value(n, 0)
	switch {
	case jsonc.Same(&v, value):
		return text, nil
	case n.ShortTag() == "!!null" && key != nil:
		return y.fill(key, n, value), nil
	case n.Kind != yaml.ScalarNode || v.End <= v.Start || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 ||
		n.Anchor != "":
		return nil, y.wrong(n, "%s is %s, and is to be set to something else; change it by hand",
			strings.Join(path, "."), kindOf(n))
	}
	return y.splice(v.Start, v.End, scalar(value, n.Style)), nil
}

// AddToList adds a word to a list below two keys of a rule file: as the first in brackets, else as the last.
// It makes a missing list, as the last below the first key. line is where, from 1; 0 means that the text
// cannot be edited, and stays.
func AddToList(text, key, of, add string) (edited string, line int) {
	y, err := openYAML([]byte(text))
	if err != nil || lookUp(y.root, key) == nil {
		return text, 0
	}
	var out []byte
	switch list := lookUp(y.root, key, of); {
	case list == nil || isNull(list):
		out, err = SetYAML(y.text, jsonc.List{add}, key, of)
	case list.Kind != yaml.SequenceNode:
		return text, 0
	case list.Style&yaml.FlowStyle != 0 && len(list.Content) > 0:
		at := y.offset(list.Content[0].Line, list.Content[0].Column)
		out = y.splice(at, at, flowValue(add)+", ")
	default:
		out, err = SetYAML(y.text, add, key, of, strconv.Itoa(len(list.Content)))
	}
	if err != nil || yaml.Unmarshal(out, new(yaml.Node)) != nil {
		return text, 0
	}
	was, now := strings.Split(text, "\n"), strings.Split(string(out), "\n")
	for line < min(len(was), len(now)) && was[line] == now[line] {
		line++
	}
	return string(out), line + 1
}

// yamlText is a YAML text with its lines.
type yamlText struct {
	text    []byte
	lines   []string // without line breaks
	starts  []int    // offset of each line, and the end
	newline string
	root    *yaml.Node // nil: no value
}

func openYAML(text []byte) (*yamlText, error) {
	y := &yamlText{text: text, newline: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		y.newline = "\r\n"
	}
	at := 0
	if bytes.HasPrefix(text, []byte(byteOrder)) {
		at = len(byteOrder)
	}
	for line := range strings.Lines(string(text[at:])) {
		y.lines, y.starts = append(y.lines, strings.TrimRight(line, "\r\n")), append(y.starts, at)
		at += len(line)
	}
	y.starts = append(y.starts, at)
	doc := string(text)
	root, problems := document(newSource("", doc), doc)
	if len(problems) > 0 {
		p := problems[0]
		if p.Code == CodeFile && p.Line == 0 && root == nil && isEmptyYAML(text) {
			return y, nil
		}
		return nil, &jsonc.SyntaxError{Line: max(1, p.Line), Column: max(1, p.Col),
			Msg: strings.TrimSuffix(p.Msg+"; "+p.Hint, "; ")}
	}
	y.root = root
	return y, nil
}

func (y *yamlText) splice(from, to int, with string) []byte {
	return slices.Concat(y.text[:from], []byte(with), y.text[to:])
}

// isEmptyYAML reports whether a text has only blanks and comments.
func isEmptyYAML(text []byte) bool {
	var root yaml.Node
	return yaml.Unmarshal(text, &root) == nil && len(root.Content) == 0
}

// offset returns the offset of a line and a column, both from 1.
func (y *yamlText) offset(line, column int) int {
	if line > len(y.lines) {
		return y.starts[len(y.starts)-1]
	}
	runes := []rune(y.lines[line-1])
	return y.starts[line-1] + len(string(runes[:min(max(0, column-1), len(runes))]))
}

func (y *yamlText) wrong(n *yaml.Node, format string, args ...any) error {
	return &jsonc.SyntaxError{Line: n.Line, Column: n.Column, Msg: fmt.Sprintf(format, args...)}
}

// kindOf describes a node.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "*" + n.Value
	}
	return display(n)
}

// entry returns the value below a node, and its key in a mapping.
func entry(n *yaml.Node, step string) (value, key *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for k, v := range pairs(n) {
			if k.Value == step {
				return v, k
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], nil
		}
	}
	return nil, nil
}

// value converts a node to a tree. An alias has the place of its name.
func (y *yamlText) value(n *yaml.Node, depth int) jsonc.Value {
	v := jsonc.Value{Start: y.offset(n.Line, n.Column)}
	v.End = v.Start
	switch {
	case depth > maxDepth:
	case n.Kind == yaml.AliasNode:
		v.Kind, v.Text, v.End = jsonc.String, "*"+n.Value, v.Start+1+len(n.Value)
	case n.Kind == yaml.MappingNode:
		v.Kind = jsonc.Object
		for k, member := range pairs(n) {
			v.Members = append(v.Members, jsonc.Member{Key: k.Value, Value: y.value(member, depth+1)})
			v.End = v.Members[len(v.Members)-1].Value.End
		}
	case n.Kind == yaml.SequenceNode:
		v.Kind = jsonc.Array
		for _, c := range n.Content {
			v.Items = append(v.Items, y.value(c, depth+1))
			v.End = v.Items[len(v.Items)-1].End
		}
	default:
		v.Kind, v.Text = jsonc.String, n.Value
		switch n.ShortTag() {
		case "!!null":
			v.Kind = jsonc.Null
		case "!!bool":
			v.Kind, v.Text = jsonc.Bool, strings.ToLower(n.Value)
		case "!!int", "!!float":
			v.Kind = jsonc.Number
		}
		v.End = y.end(n)
	}
	return v
}

// end returns the end of a scalar, with its closing quote.
func (y *yamlText) end(n *yaml.Node) int {
	at := y.offset(n.Line, n.Column)
	spots := locate(y.lines, n.Line, n.Column, n.Value)
	if len(spots) > 0 && n.Value != "" {
		last := spots[len(spots)-1]
		at = y.offset(last.line, last.col)
	} else if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		at++ // the opening one
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		at++
	}
	return min(at, len(y.text))
}

// fill gives a value to a key without one, or with null.
func (y *yamlText) fill(key, null *yaml.Node, value any) []byte {
	from := y.end(key)
	from += bytes.IndexByte(y.text[from:], ':') + 1
	to := from
	if null.Value != "" {
		to = y.end(null)
	}
	with := " " + scalar(value, 0)
	switch value.(type) {
	case jsonc.Pairs, jsonc.List:
		indent := strings.Repeat(" ", key.Column-1) + "  "
		with = y.newline + strings.TrimSuffix(block(value, indent, y.newline), y.newline)
		// a comment stays on the line of its key
		if rest := y.starts[key.Line] - len(y.newline); to == from && rest > from && rest <= len(y.text) {
			from, to = rest, rest
		}
	}
	return y.splice(from, to, with)
}

// insert adds a member or an item behind the last one.
func (y *yamlText) insert(in *yaml.Node, key string, value any) ([]byte, error) {
	if in.Style&yaml.FlowStyle != 0 {
		return y.insertFlow(in, key, value)
	}
	if in.Kind == yaml.MappingNode {
		first, last := in.Content[0], in.Content[len(in.Content)-2]
		indent := first.Column - 1
		list := in.Content[len(in.Content)-1].Kind == yaml.SequenceNode
		return y.addLines(y.blockEnd(last.Line, indent, list), block(jsonc.Make(key, value),
			strings.Repeat(" ", indent), y.newline)), nil
	}
	first, last := in.Content[0], in.Content[len(in.Content)-1]
	dash := strings.LastIndexByte(y.lines[first.Line-1][:y.offset(first.Line,
		first.Column)-y.starts[first.Line-1]], '-')
	if dash < 0 {
		return nil, y.wrong(in, "an item is to be added to this list, and its dash stands on a line of its own; add it by hand")
	}
	return y.addLines(y.blockEnd(last.Line, dash, false), block(jsonc.List{value}, strings.Repeat(" ", dash),
		y.newline)), nil
}

// blockEnd returns the number of lines up to the end of an entry that begins on a line, from 1, in a block
// with an indentation. A list may have the indentation of its key.
func (y *yamlText) blockEnd(line, indent int, list bool) int {
	end := line
	for i := line; i < len(y.lines); i++ {
		text := strings.TrimLeft(y.lines[i], " ")
		at := len(y.lines[i]) - len(text)
		switch {
		case strings.TrimSpace(text) == "" || text[0] == '#' && at <= indent:
		case at > indent, list && at == indent && (text == "-" || strings.HasPrefix(text, "- ")):
			end = i + 1
		default:
			return end
		}
	}
	return end
}

// addLines adds whole lines behind a number of lines.
func (y *yamlText) addLines(behind int, added string) []byte {
	at := y.starts[behind]
	if at > 0 && y.text[at-1] != '\n' {
		added = y.newline + strings.TrimSuffix(added, y.newline)
	}
	return y.splice(at, at, added)
}

// insertFlow adds before the closing bracket.
func (y *yamlText) insertFlow(in *yaml.Node, key string, value any) ([]byte, error) {
	at := y.flowEnd(in) - 1
	if at < 0 {
		return nil, y.wrong(in, "%s is to be set here, and where the bracket is closed is not seen; change it by hand", key)
	}
	added := flowValue(value)
	if in.Kind == yaml.MappingNode {
		added = scalar(key, 0) + ": " + added
	}
	for at > 0 && strings.IndexByte(" \t\r\n", y.text[at-1]) >= 0 {
		at--
	}
	if len(in.Content) > 0 && y.text[at-1] != ',' {
		added = ", " + added
	}
	return y.splice(at, at, added), nil
}

// flowEnd returns the end of a mapping or list in brackets; 0: unknown.
func (y *yamlText) flowEnd(n *yaml.Node) int {
	at := y.offset(n.Line, n.Column) + 1
	if len(n.Content) > 0 {
		last := n.Content[len(n.Content)-1]
		if at = y.end(last); last.Kind != yaml.ScalarNode {
			at = y.flowEnd(last)
		}
	}
	for ; at > 0 && at < len(y.text); at++ {
		switch c := y.text[at]; {
		case c == '}' || c == ']':
			return at + 1
		case c == '#':
			at += max(0, bytes.IndexByte(y.text[at:], '\n'))
		case strings.IndexByte(" \t\r\n,", c) < 0:
			return 0
		}
	}
	return 0
}

// block writes a value as lines of a block.
func block(value any, indent, newline string) string {
	var b strings.Builder
	switch v := value.(type) {
	case jsonc.Pairs:
		for _, m := range v {
			b.WriteString(indent + scalar(m.Key, 0) + ":")
			if _, nested := m.Value.(jsonc.Pairs); nested || holdsPairs(m.Value) {
				b.WriteString(newline + block(m.Value, indent+"  ", newline))
			} else {
				b.WriteString(" " + flowValue(m.Value) + newline)
			}
		}
	case jsonc.List:
		for _, item := range v {
			if _, nested := item.(jsonc.Pairs); nested {
				b.WriteString(indent + "- " + strings.TrimPrefix(block(item, indent+"  ", newline),
					indent+"  "))
			} else {
				b.WriteString(indent + "- " + flowValue(item) + newline)
			}
		}
	}
	return b.String()
}

func holdsPairs(value any) bool {
	list, _ := value.(jsonc.List)
	for _, item := range list {
		if _, is := item.(jsonc.Pairs); is {
			return true
		}
	}
	return false
}

// flowValue writes a value on one line.
func flowValue(value any) string {
	var parts []string
	switch v := value.(type) {
	case jsonc.Pairs:
		for _, m := range v {
			parts = append(parts, scalar(m.Key, 0)+": "+flowValue(m.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case jsonc.List:
		for _, item := range v {
			parts = append(parts, flowValue(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return scalar(value, 0)
}

// scalar writes a text, a number, true or false in the style of what it replaces.
func scalar(value any, style yaml.Style) string {
	text, is := value.(string)
	switch {
	case !is:
		return fmt.Sprint(value)
	case style&yaml.DoubleQuotedStyle != 0:
		return jsontext.Quote(text)
	case style&yaml.SingleQuotedStyle != 0 && !strings.ContainsAny(text, "'\n"):
		return "'" + text + "'"
	}
	plain, err := yaml.Marshal(text)
	if out := strings.TrimSuffix(string(plain), "\n"); err == nil && !strings.ContainsAny(out, "\n,[]{}") {
		return out
	}
	return jsontext.Quote(text)
}
