package upstream

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Memory is what is known of earlier calls. Each field may be nil.
type Memory struct {
	Thoughts CallTexts // chain of thought that led to a call
	Notes    CallTexts // for the model, with the result of a call
	ruleset.History
	// Bounds returns how much of a result with so many characters is kept; nil: all.
	Bounds func(tool string, chars int) tools.TrimBounds
}

// CallTexts holds texts of calls by the id that openai.CleanCallID returns.
type CallTexts interface {
	Get(callID string) (string, bool)
}

// NameFixer finds the tool that a damaged name means. *tools.Catalog implements it.
type NameFixer interface {
	Name(raw string) (tools.Match, *tools.Refusal)
}

// Prepare returns the edits that put a request into the dialect of srv, for the model m. names may be nil.
// The edits depend on the arguments only, and an unchanged message gets the same edits again, so that the
// server finds its prefix cache.
func Prepare(q *openai.Request, srv *ruleset.Server, m ruleset.Model, known Memory,
	names NameFixer) []openai.Edit {
	d := draft{q: q, srv: srv, images: m.Images}
	d.fields(m)
	d.tools(known.Strict)
	d.history(known, names)
	return d.edits
}

// draft collects the edits of one request.
type draft struct {
	q      *openai.Request
	srv    *ruleset.Server
	images bool // the model sees them
	edits  []openai.Edit
}

func (d *draft) put(at openai.Span, with []byte) {
	d.edits = append(d.edits, openai.Edit{Span: at, With: with})
}

func (d *draft) insert(at int, with []byte) { d.put(openai.Span{From: at, To: at}, with) }

// root edits the request's own members. All removals are made at once, as edits must not overlap.
type root struct {
	*draft
	drop []string
}

func (r *root) set(name string, value []byte) { r.edits = append(r.edits, r.q.Set(name, value)) }

func (r *root) has(name string) bool {
	_, ok := r.q.Field(name)
	return ok
}

// string returns the value of a member; "": it is no string.
func (r *root) string(name string) string {
	at, ok := r.q.Field(name)
	if !ok {
		return ""
	}
	text, _ := openai.Text(r.q.Body, at)
	return text
}

// fields edits the members of the request other than messages and tools.
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

// rename renames members as the server wants. Where the caller sent both names, the server's stands.
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

// toolChoice removes what the server refuses: a choice without tools, and kinds of choice that it does not
// know. "none" is kept; a server that ignores it gets no tools.
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

// noTools reports whether tools is absent, null or empty. Request.Tools lists function tools only.
func noTools(q *openai.Request) bool {
	at, ok := q.Field("tools")
	return !ok || len(gjson.GetBytes(at.Of(q.Body), "0").Raw) == 0
}

// structured puts the schema of response_format into the server's own field.
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

// sampling adds the model's values where the caller sent none, and returns the effort among them.
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

// hasByOtherName reports whether the caller sent a member that is renamed to name or means the same.
func (r *root) hasByOtherName(name string) bool {
	for from, to := range r.srv.Rename {
		if to == name && r.has(from) || from == name && r.has(to) {
			return true
		}
	}
	return name == "max_tokens" && r.has("max_completion_tokens") || name == "max_completion_tokens" &&
		r.has("max_tokens")
}

// effort limits the reasoning effort to values that the server takes and puts it where the server looks.
// gpt-oss knows low, medium and high.
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

// setPath sets "a" or "a.b", unless the caller has set a.b.
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

// Correct adds to a prepared request what the model said and what was wrong with it, so that it answers
// again. The messages stay between us and the upstream. answer may be empty; with alternate a sentence
// replaces it. The correction is a user message, the only role that every server's template renders at the
// end.
func Correct(body []byte, answer, problem string, alternate bool) []byte {
	whole := openai.Span{From: 0, To: len(body)}
	var messages openai.Span
	err := openai.Members(body, whole, func(key []byte, _, val openai.Span) {
		if string(key) == "messages" && body[val.From] == '[' {
			messages = val
		}
	})
	if err != nil || !messages.Present() {
		return body
	}
	var more []byte
	if alternate {
		answer = cmp.Or(answer, silence)
	}
	if answer != "" {
		more = appendMessage(more, "assistant", answer)
	}
	more = appendMessage(more, "user", problem)
	return slices.Concat(body[:messages.To-1], more, body[messages.To-1:])
}

// appendMessage appends a message after others.
func appendMessage(dst []byte, role, text string) []byte {
	dst = append(append(dst, `,{"role":"`...), role...)
	dst = append(dst, `","content":`...)
	return append(openai.AppendString(dst, Masked(text)), '}')
}

// Unstreamed returns a prepared request for a whole reply.
func Unstreamed(body []byte) []byte {
	out, err := sjson.SetBytes(body, "stream", false)
	if err == nil {
		out, err = sjson.DeleteBytes(out, "stream_options")
	}
	if err != nil { // it is no object, which the server says
		return body
	}
	return out
}
