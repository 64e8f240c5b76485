package tools

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// envelope is a call within the arguments of another; without argsKey it is none.
type envelope struct {
	name, nameKey string
	args, argsKey string
}

// readEnvelope reads {"name": …, "arguments": {…}} and similar forms, with or without the name. Any
// other key makes it ordinary arguments.
func readEnvelope(object []byte) (e envelope) {
	s := jsontext.Scanner{Doc: object, Depth: len(object)} // already validated
	for ok := s.Enter('{'); ok && s.Next('}'); {
		key, _ := s.Key()
		first := s.Peek()
		switch string(key) {
		case "name", "tool", "tool_name", "function":
			if e.nameKey != "" || first != '"' {
				return envelope{}
			}
			e.nameKey = string(key)
			e.name, _ = jsontext.Text(object, s.Skip())
		case "arguments", "parameters", "input", "args":
			if e.argsKey != "" || first != '"' && first != '{' {
				return envelope{}
			}
			e.argsKey = string(key)
			at := s.Skip()
			if e.args = string(at.Of(object)); first == '"' {
				e.args, _ = jsontext.Text(object, at)
			}
		case "id", "type", "toolUseId":
		default:
			return envelope{}
		}
	}
	if s.Err != nil || e.argsKey == "" {
		return envelope{}
	}
	return e
}

// ownEnvelope returns the arguments of m in an envelope that repeats its name, if the tool has no
// parameters of these names.
func (c *Catalog) ownEnvelope(m Match, s *schema, object []byte) (args string, ok bool) {
	if c.open {
		return "", false
	}
	e := readEnvelope(object)
	if e.nameKey == "" {
		e = rpcEnvelope(object)
	}
	if e.nameKey == "" || s != nil && (s.props[e.nameKey] != nil || s.props[e.argsKey] != nil) {
		return "", false
	}
	inner, refusal := c.Name(e.name)
	return e.args, refusal == nil && inner.Tool == m.Tool
}

// innerObject returns the object below the only key, which is no parameter, of one that does not fit.
// Metadata may stand beside it. For a tool that changes something, the key must be neutral: {"dry_run":
// {…}} is not.
func (c *Catalog) innerObject(m Match, w *shaper, object string) (inner string, ok bool) {
	key := ""
	for _, member := range membersOf(object) {
		v := gjson.Parse(member.val)
		switch text := strings.TrimSpace(v.String()); {
		case w.schema.props[member.name] != nil:
			return "", false
		case slices.Contains([]string{"id", "type", "index"}, member.name) && !v.IsObject():
			continue
		case inner != "" || !strings.HasPrefix(text, "{"):
			return "", false
		default:
			key, inner = member.name, text
		}
	}
	if inner == "" || key == "properties" && gjson.Get(inner, "required").IsArray() && !w.known("required") {
		return "", false
	}
	name, refusal := c.Name(key)
	return inner, w.harmless() || neutral(key) || refusal == nil && name.Tool == m.Tool
}

// neutral reports whether a key only announces arguments or a call.
func neutral(name string) bool {
	switch key(name) {
	case "", "0", "arg", "args", "argument", "arguments", "kwargs", "param", "params", "parameter",
		"parameters", "input", "inputs",
		"toolinput", "actioninput", "data", "payload", "body", "request", "value", "object", "json",
		"properties",
		"call", "calls", "function", "functioncall", "functioncalls", "tool", "toolcall", "toolcalls",
		"tooluse", "tooluses":
		return true
	}
	return false
}

// rpcEnvelope reads the body of a JSON-RPC request: of MCP's tools/call, or of a method that is the
// tool. Any other key makes it ordinary arguments.
func rpcEnvelope(object []byte) (e envelope) {
	var version bool
	if !bytes.Contains(object, []byte(`"jsonrpc"`)) { // at a glance
		return envelope{}
	}
	for _, m := range membersOf(string(object)) {
		v := gjson.Parse(m.val)
		switch m.name {
		case "jsonrpc":
			version = true
		case "id":
		case "method":
			e.name, e.nameKey = v.String(), m.name
		case "params":
			e.args, e.argsKey = m.val, m.name
		default:
			return envelope{}
		}
	}
	switch {
	case !version || e.nameKey == "" || !strings.HasPrefix(e.args, "{"):
		return envelope{}
	case e.name == "tools/call":
		return readEnvelope([]byte(e.args))
	}
	return e
}
