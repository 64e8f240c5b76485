package upstream

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// Recovered is what the model generated, found in an error body. Some servers
// reject the model's own call and quote it in the error. Either Text or Calls
// is set.
type Recovered struct {
	Text  string // to be read like the content of a reply
	Calls []Raw
}

// Raw is a call as the model wrote it. Name is "" where the server did not tell.
type Raw struct {
	Name      string
	Arguments string
}

// embeddedDepth bounds the nesting of JSON quoted inside an error.
const embeddedDepth = 64

// Recover looks for generated text in an error body with the patterns of srv.
// body is the body as received, or that body as a JSON string.
func Recover(srv *ruleset.Server, body []byte) (Recovered, bool) {
	text := readFault(body).Message
	for _, p := range srv.Recover {
		if p.Field != "" {
			if wrote := quoted(body, text, p.Field); wrote != "" {
				return generation(wrote), true
			}
			continue
		}
		if p.Match == nil {
			continue
		}
		groups := named(p.Match, text)
		if args := groups["args"]; args != "" {
			return Recovered{Calls: []Raw{{Name: groups["name"], Arguments: args}}}, true
		}
		if wrote := groups["text"]; wrote != "" {
			return generation(wrote), true
		}
	}
	return Recovered{}, false
}

// quoted is the string at path in the body, or in a body that a proxy has
// quoted inside the text of its own error ("GroqException - {…}"), even as a
// Python literal.
func quoted(body []byte, text, path string) string {
	if s := gjson.GetBytes(body, path); s.Type == gjson.String {
		return s.String()
	}
	last := path[strings.LastIndexByte(path, '.')+1:]
	at := strings.IndexByte(text, '{')
	if at < 0 || !strings.Contains(text[at:], last) {
		return ""
	}
	inner, err := jsonrepair.Repair(text[at:], embeddedDepth)
	if err != nil {
		return ""
	}
	if s := gjson.GetBytes(inner.JSON, path); s.Type == gjson.String {
		return s.String()
	}
	return gjson.GetBytes(inner.JSON, last).String()
}

// generation reads generated text: a call object or an array of them becomes
// calls, all else stays text.
func generation(wrote string) Recovered {
	trimmed := strings.TrimSpace(wrote)
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") {
		return Recovered{Text: wrote}
	}
	if !gjson.Valid(trimmed) {
		mended, err := jsonrepair.Repair(trimmed, embeddedDepth)
		if err != nil || mended.Cut >= jsonrepair.Unended {
			return Recovered{Text: wrote}
		}
		trimmed = string(mended.JSON)
	}
	doc := gjson.Parse(trimmed)
	entries := []gjson.Result{doc}
	if doc.IsArray() {
		entries = doc.Array()
	}
	var calls []Raw
	for _, e := range entries {
		call, ok := rawCall(e)
		if !ok {
			return Recovered{Text: wrote}
		}
		calls = append(calls, call)
	}
	if len(calls) == 0 {
		return Recovered{Text: wrote}
	}
	return Recovered{Calls: calls}
}

// rawCall reads {"name", "arguments"}, with arguments as an object or as a
// string, also inside {"function": …}, and "parameters" in their place.
func rawCall(e gjson.Result) (Raw, bool) {
	if f := e.Get("function"); f.IsObject() {
		e = f
	}
	name, args := e.Get("name"), e.Get("arguments")
	if !args.Exists() {
		args = e.Get("parameters")
	}
	if !e.IsObject() || name.Type != gjson.String || !args.Exists() {
		return Raw{}, false
	}
	switch {
	case args.Type == gjson.String:
		return Raw{Name: name.String(), Arguments: args.String()}, true
	case args.Type == gjson.Null:
		return Raw{Name: name.String(), Arguments: "{}"}, true
	case json.Valid([]byte(args.Raw)):
		return Raw{Name: name.String(), Arguments: args.Raw}, true
	}
	return Raw{}, false
}
