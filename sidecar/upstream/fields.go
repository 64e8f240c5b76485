package upstream

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// fields edits the request's own members, all but messages and tools.
func (d *draft) fields(m ruleset.Model) {
	r := root{draft: d}
	if m.Name != "" && m.Name != d.q.Model {
		r.set("model", openai.AppendString(nil, m.Name))
	}
	for _, name := range d.srv.DropFields {
		r.remove(name)
	}
	r.rename()
	r.toolChoice()
	r.structured()
	r.effort(r.sampling(m.Sampling))
	if len(r.drop) > 0 {
		d.edits = append(d.edits, openai.Remove(d.q.Body, d.q.Root, func(key []byte) bool {
			return slices.Contains(r.drop, string(key))
		})...)
	}
}

func (r *root) remove(name string) {
	if r.has(name) && !slices.Contains(r.drop, name) {
		r.drop = append(r.drop, name)
	}
}

// rename moves members to the server's names for them. Where the caller sent
// both, the server's own name stands.
func (r *root) rename() {
	for _, from := range slices.Sorted(maps.Keys(r.srv.Rename)) {
		to := r.srv.Rename[from]
		key, ok := r.q.FieldKey(from)
		switch {
		case !ok:
		case r.has(to):
			r.remove(from)
		default:
			r.put(key, openai.AppendString(nil, to))
		}
	}
}

// toolChoice takes out what the server refuses: a choice without tools, and the
// kinds of choice that it does not know. "none" is kept; a server that ignores it is shown no tools.
func (r *root) toolChoice() {
	at, chosen := r.q.Field("tool_choice")
	if r.srv.DropEmptyTools && noTools(r.q) {
		r.remove("tools")
		r.remove("tool_choice")
		return
	}
	switch {
	case !chosen:
	case r.srv.ToolChoice == "drop" && r.q.ToolChoice == "none":
		r.remove("tools")
		r.remove("tool_choice")
	case r.srv.ToolChoice == "drop":
		r.remove("tool_choice")
	case r.srv.ToolChoice == "required" && r.q.ToolName != "": // no other tool is offered
		r.put(at, []byte(`"required"`))
	case r.srv.ToolChoice == "auto" && r.q.ToolChoice != "auto" && r.q.ToolChoice != "none":
		r.put(at, []byte(`"auto"`))
	}
}

// noTools reports that tools is absent, null or empty. Request.Tools does not
// tell: it knows function tools only.
func noTools(q *openai.Request) bool {
	at, ok := q.Field("tools")
	return !ok || len(gjson.GetBytes(at.Of(q.Body), "0").Raw) == 0
}

// structured puts the schema of a response_format into the server's own field.
func (r *root) structured() {
	at, ok := r.q.Field("response_format")
	name, inner, _ := strings.Cut(r.srv.Structured, ".")
	if !ok || name == "" || r.has(name) {
		return
	}
	schema := gjson.GetBytes(at.Of(r.q.Body), "json_schema.schema")
	if !schema.IsObject() {
		return
	}
	r.remove("response_format")
	value := []byte(schema.Raw)
	if inner != "" {
		value = []byte(`{"` + inner + `":` + schema.Raw + `}`)
	}
	r.set(name, value)
}

// sampling adds the model's own values where the caller sent none, and returns
// the effort among them.
func (r *root) sampling(values map[string]any) (effort string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if name == "reasoning_effort" {
			effort, _ = values[name].(string)
			continue
		}
		if r.has(name) || r.hasByOtherName(name) {
			continue
		}
		if value, err := json.Marshal(values[name]); err == nil {
			r.set(name, value)
		}
	}
	return effort
}

// hasByOtherName reports whether the caller sent a member that is renamed to
// name, or that means the same.
func (r *root) hasByOtherName(name string) bool {
	for from, to := range r.srv.Rename {
		if to == name && r.has(from) || from == name && r.has(to) {
			return true
		}
	}
	return name == "max_tokens" && r.has("max_completion_tokens") || name == "max_completion_tokens" &&
		r.has("max_tokens")
}

// effort clamps the reasoning effort to what the server takes and puts it where
// the server looks for it. gpt-oss knows low, medium and high.
func (r *root) effort(standard string) {
	e := r.srv.Effort
	asked := r.string("reasoning_effort")
	if asked == "" {
		if at, ok := r.q.Field("reasoning"); ok {
			asked = gjson.GetBytes(at.Of(r.q.Body), "effort").String()
		}
	}
	asked = cmp.Or(asked, standard)
	switch {
	case asked != "" && e.Switches:
		r.remove("reasoning_effort")
		if e.Field != "" {
			r.setPath(e.Field, strconv.AppendBool(nil, asked != "none"))
		}
		return
	case asked == "" || len(e.Allowed) == 0 && len(e.Map) == 0:
		return
	}
	value := e.Map[asked]
	if slices.Contains(e.Allowed, asked) {
		value = asked
	}
	field := cmp.Or(e.Field, "reasoning_effort")
	if value == "" || field != "reasoning_effort" {
		r.remove("reasoning_effort")
	}
	if value != "" && (field != "reasoning_effort" || r.string(field) != value) {
		r.setPath(field, openai.AppendString(nil, value))
	}
}

// setPath sets "a" or "a.b"; a value that the caller put there itself stays.
func (r *root) setPath(path string, value []byte) {
	name, inner, nested := strings.Cut(path, ".")
	if !nested {
		r.set(name, value)
		return
	}
	at, ok := r.q.Field(name)
	if !ok || r.q.Body[at.From] != '{' {
		r.set(name, slices.Concat([]byte("{"), openai.AppendString(nil, inner), []byte(":"), value,
			[]byte("}")))
		return
	}
	if !gjson.GetBytes(at.Of(r.q.Body), inner).Exists() {
		r.edits = append(r.edits, openai.Insert(r.q.Body, at, inner, value))
	}
}
