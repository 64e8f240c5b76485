package connection

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// tomlText is a TOML text with its headers of tables and keys.
type tomlText struct {
	text    []byte
	newline string
	root    jsonc.Value
	list    []expression
}

// expression is the header of a table, or a key with its value.
type expression struct {
	table      []string // path of the header; for a key, that above it
	key        []string // empty for a header
	start, end int
	prefix     string // the key as written, without its last part
}

// parseTOML parses a text into a tree with positions.
func parseTOML(text []byte) (*jsonc.Value, error) {
	t, err := openTOML(text)
	if err != nil {
		return nil, err
	}
	return &t.root, nil
}

func openTOML(text []byte) (*tomlText, error) {
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		line, column := 1, 1
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column = at.Position()
		}
		return nil, &jsonc.SyntaxError{Line: line, Column: column, Msg: strings.TrimPrefix(err.Error(),
			"toml: ")}
	}
	t := &tomlText{text: text, newline: "\n", root: jsonc.Value{Kind: jsonc.Object}}
	if bytes.Contains(text, []byte("\r\n")) {
		t.newline = "\r\n"
	}
	var p unstable.Parser
	p.Reset(text)
	var table []string
	in := &t.root
	for p.NextExpression() {
		n := p.Expression()
		key, last := keyOf(n)
		e := expression{table: key, start: int(last.Raw.Offset), end: int(last.Raw.Offset + last.Raw.Length)}
		switch n.Kind {
		case unstable.Table:
			table, in = key, object(&t.root, key)
		case unstable.ArrayTable:
			list := object(&t.root, key[:len(key)-1])
			table, in = key, item(list, key[len(key)-1])
		case unstable.KeyValue:
			t.value(object(in, key[:len(key)-1]), n)
			start := int(n.Raw.Offset)
			e = expression{table, key, start, start + int(n.Raw.Length), string(text[start:last.Raw.Offset])}
		default:
			continue
		}
		t.list = append(t.list, e)
	}
	return t, p.Error()
}

// keyOf returns the parts of a key, and the node of the last one.
func keyOf(n *unstable.Node) (key []string, last *unstable.Node) {
	for it := n.Key(); it.Next(); {
		last = it.Node()
		key = append(key, string(last.Data))
	}
	return key, last
}

// object returns the object at a path, and makes missing ones. In a list it is the last item.
func object(in *jsonc.Value, path []string) *jsonc.Value {
	for _, step := range path {
		next := in.Get(step)
		if next == nil {
			in.Members = append(in.Members, jsonc.Member{Key: step, Value: jsonc.Value{Kind: jsonc.Object}})
			next = &in.Members[len(in.Members)-1].Value
		}
		if in = next; in.Kind == jsonc.Array && len(in.Items) > 0 {
			in = &in.Items[len(in.Items)-1]
		}
	}
	return in
}

// item appends an object to a list.
func item(in *jsonc.Value, key string) *jsonc.Value {
	list := in.Get(key)
	if list == nil {
		in.Members = append(in.Members, jsonc.Member{Key: key, Value: jsonc.Value{Kind: jsonc.Array}})
		list = &in.Members[len(in.Members)-1].Value
	}
	list.Items = append(list.Items, jsonc.Value{Kind: jsonc.Object})
	return &list.Items[len(list.Items)-1]
}

// value adds the value of an expression to an object.
func (t *tomlText) value(in *jsonc.Value, n *unstable.Node) {
	key, last := keyOf(n)
	start, end := int(last.Raw.Offset+last.Raw.Length), int(n.Raw.Offset+n.Raw.Length)
	start += bytes.IndexByte(t.text[start:], '=') + 1
	for start < end && (t.text[start] == ' ' || t.text[start] == '\t') {
		start++
	}
	v := t.tree(n.Value())
	v.Start, v.End = start, end
	in.Members = append(in.Members, jsonc.Member{Key: key[len(key)-1], Value: v})
}

func (t *tomlText) tree(n *unstable.Node) jsonc.Value {
	v := jsonc.Value{Kind: jsonc.String, Text: string(n.Data), Start: int(n.Raw.Offset),
		End: int(n.Raw.Offset + n.Raw.Length)}
	switch n.Kind {
	case unstable.Bool:
		v.Kind = jsonc.Bool
	case unstable.Integer, unstable.Float:
		v.Kind = jsonc.Number
	case unstable.Array:
		v.Kind = jsonc.Array
		for it := n.Children(); it.Next(); {
			v.Items = append(v.Items, t.tree(it.Node()))
		}
	case unstable.InlineTable:
		v.Kind = jsonc.Object
		for it := n.Children(); it.Next(); {
			key, _ := keyOf(it.Node())
			t.value(object(&v, key[:len(key)-1]), it.Node())
		}
	}
	return v
}

// setTOML sets the value at a path, as jsonc.Set does for JSON. All other bytes stay.
func setTOML(text []byte, value any, path ...string) ([]byte, error) {
	t, err := openTOML(text)
	if err != nil {
		return nil, err
	}
	parent := path[:len(path)-1]
	for i := range path {
		v := t.root.At(path[:i+1]...)
		switch {
		case v == nil && i > 0 && t.root.At(path[:i]...).End > 0:
			return t.insertInline(t.root.At(path[:i]...), jsonc.Nested(value, path[i:]).(jsonc.Pairs)), nil
		case v == nil:
			return t.insert(parent, path[len(path)-1], value), nil
		case i == len(path)-1 && jsonc.Same(v, value):
			return text, nil
		case i == len(path)-1 && v.End > 0 && v.Kind != jsonc.Object:
			return t.splice(v.Start, v.End, tomlValue(value)), nil
		case i == len(path)-1 || v.Kind != jsonc.Object:
			line, column := jsonc.Position(text, v.Start)
			return nil, &jsonc.SyntaxError{Line: line, Column: column,
				Msg: fmt.Sprintf("%s is %s, and is to be set to something else; change it by hand",
					strings.Join(path[:i+1], "."), v.Kind)}
		}
	}
	return text, nil
}

func (t *tomlText) splice(start, end int, with string) []byte {
	return bytes.Join([][]byte{t.text[:start], []byte(with), t.text[end:]}, nil)
}

// insertInline adds members to an inline table.
func (t *tomlText) insertInline(in *jsonc.Value, members jsonc.Pairs) []byte {
	at := in.End - 1
	for strings.IndexByte(" \t\r\n", t.text[at-1]) >= 0 {
		at--
	}
	sep := " "
	if len(in.Members) > 0 && t.text[at-1] != ',' {
		sep = ", "
	}
	inside := strings.TrimSuffix(strings.TrimPrefix(tomlValue(members), "{ "), " }")
	end := ""
	if at == in.End-1 {
		end = " "
	}
	return t.splice(at, at, sep+inside+end)
}

// insert adds a key to a table: behind another key of it, behind its header, or below a new header.
func (t *tomlText) insert(table []string, key string, value any) []byte {
	var behind *expression
	for i := range t.list {
		e := &t.list[i]
		above := slices.Concat(e.table, e.key[:max(0, len(e.key)-1)])
		if slices.Equal(above, table) && (len(e.key) > 0 || behind == nil) {
			behind = e
		}
	}
	line := tomlKey(key) + " = " + tomlValue(value)
	switch {
	case behind != nil:
		at := t.lineEnd(behind.end)
		indent := ""
		if len(behind.key) > 0 {
			before := t.text[:behind.start]
			indent = string(before[bytes.LastIndexByte(before, '\n')+1:])
		}
		return t.addLine(at, indent+behind.prefix+line)
	case len(table) > 0:
		header := make([]string, len(table))
		for i, step := range table {
			header[i] = tomlKey(step)
		}
		line = "[" + strings.Join(header, ".") + "]" + t.newline + line
		if len(t.text) > 0 {
			line = t.newline + line
		}
		return t.addLine(len(t.text), line)
	}
	at := t.firstKeyOffset()
	if at < len(t.text) {
		line += t.newline
	}
	return t.addLine(at, line)
}

// lineEnd returns the start of the next line.
func (t *tomlText) lineEnd(at int) int {
	if n := bytes.IndexByte(t.text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(t.text)
}

// firstKeyOffset returns where a key outside of tables may stand: before the first header and the comments
// above it.
func (t *tomlText) firstKeyOffset() int {
	if len(t.list) == 0 {
		return len(t.text)
	}
	at := bytes.LastIndexByte(t.text[:t.list[0].start], '\n') + 1
	for at > 0 {
		line := bytes.LastIndexByte(t.text[:at-1], '\n') + 1
		if !bytes.HasPrefix(bytes.TrimSpace(t.text[line:at]), []byte("#")) {
			break
		}
		at = line
	}
	return at
}

// addLine inserts whole lines.
func (t *tomlText) addLine(at int, line string) []byte {
	line += t.newline
	if at > 0 && t.text[at-1] != '\n' {
		line = t.newline + line
	}
	return t.splice(at, at, line)
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKey(key string) string {
	if bareKey.MatchString(key) {
		return key
	}
	return tomlString(key)
}

// tomlString quotes a text. TOML has the escapes of JSON, and requires them for control characters.
func tomlString(text string) string {
	return strings.ReplaceAll(jsontext.Quote(text), "\x7f", `\u007f`)
}

// tomlValue returns a value on one line.
func tomlValue(value any) string {
	var parts []string
	switch v := value.(type) {
	case jsonc.Pairs:
		for _, m := range v {
			parts = append(parts, tomlKey(m.Key)+" = "+tomlValue(m.Value))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case jsonc.List:
		for _, item := range v {
			parts = append(parts, tomlValue(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return tomlString(v)
	case int:
		return strconv.Itoa(v)
	}
	return fmt.Sprint(value)
}
