package upstream

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// Recovered is generated text in an error body, as some servers quote the model's call when they reject it.
// Either Text or Calls is set.
type Recovered struct {
	Text  string // to be read like the content of a reply
	Calls []RawCall
}

// RawCall is a call as the model wrote it. Name is "" if unknown.
type RawCall struct {
	Name      string
	Arguments string
}

// embeddedDepth bounds the nesting of JSON inside an error.
const embeddedDepth = 64

// Recover looks for generated text in an error body with the patterns of srv. The body may also be a JSON
// string of itself.
func Recover(srv *ruleset.Server, body []byte) (Recovered, bool) {
	text := readFault(body).Message
	for _, p := range srv.Recover {
		if p.Field != "" {
			if wrote := quotedAt(body, text, p.Field); wrote != "" {
				return parseGenerated(wrote), true
			}
			continue
		}
		if p.Match == nil {
			continue
		}
		groups := submatches(p.Match, text)
		if args := groups["args"]; args != "" {
			return Recovered{Calls: []RawCall{{Name: groups["name"], Arguments: args}}}, true
		}
		if wrote := groups["text"]; wrote != "" {
			return parseGenerated(wrote), true
		}
	}
	return Recovered{}, false
}

// quotedAt returns the string at a path of the body, or of a body that a proxy quotes in the text of its
// own error ("GroqException - {…}"), even as a Python literal.
func quotedAt(body []byte, text, path string) string {
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

// parseGenerated turns a call object or an array of them into calls; all else stays text.
func parseGenerated(wrote string) Recovered {
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
	var calls []RawCall
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

// rawCall reads {"name", "arguments"}, where arguments is an object or a string, also inside {"function":
// …}, and "parameters" in their place.
func rawCall(e gjson.Result) (RawCall, bool) {
	if f := e.Get("function"); f.IsObject() {
		e = f
	}
	name, args := e.Get("name"), e.Get("arguments")
	if !args.Exists() {
		args = e.Get("parameters")
	}
	if !e.IsObject() || name.Type != gjson.String || !args.Exists() {
		return RawCall{}, false
	}
	switch {
	case args.Type == gjson.String:
		return RawCall{Name: name.String(), Arguments: args.String()}, true
	case args.Type == gjson.Null:
		return RawCall{Name: name.String(), Arguments: "{}"}, true
	case json.Valid([]byte(args.Raw)):
		return RawCall{Name: name.String(), Arguments: args.Raw}, true
	}
	return RawCall{}, false
}
