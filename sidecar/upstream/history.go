package upstream

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// tools edits the tools for servers that cannot read them, or that bind calls to their schemas.
func (d *draft) tools(strict bool) {
	doc := d.q.Body
	strict = strict && d.q.ToolChoice != "none"
	drop := d.srv.DropStrict && bytes.Contains(d.q.ToolsSpan.Of(doc), []byte(`"strict"`))
	if !strict && !drop && !d.srv.PlainSchemas {
		return
	}
	// ParseRequest has read these spans: there are no errors.
	_ = openai.Elements(doc, d.q.ToolsSpan, func(tool openai.Span) {
		_ = openai.Members(doc, tool, func(key []byte, _, function openai.Span) {
			if string(key) != "function" {
				return
			}
			if drop {
				d.edits = append(d.edits,
					openai.Remove(doc, function, func(key []byte) bool { return string(key) == "strict" })...)
			}
			set, fits := strict, true
			_ = openai.Members(doc, function, func(key []byte, _, val openai.Span) {
				switch string(key) {
				case "strict":
					set = false // the caller has said it
				case "parameters":
					fits = Bindable(gjson.ParseBytes(val.Of(doc)))
					if d.srv.PlainSchemas {
						d.schema(val)
					}
				}
			})
			if set { // where one tool is strict, the server takes those that say nothing for strict, too
				d.edits = append(d.edits,
					openai.Insert(doc, function, "strict", strconv.AppendBool(nil, fits)))
			}
		})
	})
}

// Bindable reports whether servers can bind what a model writes to a JSON Schema, by a grammar, and lose
// nothing that it takes: an object that names no members would always be empty.
func Bindable(schema gjson.Result) bool {
	ok := schema.Get("type").Str != "object" || schema.Get("properties").Exists() ||
		schema.Get("additionalProperties").Exists()
	schema.ForEach(func(key, val gjson.Result) bool {
		switch key.Str {
		case "pattern", "patternProperties", "not", "propertyNames":
			ok = false
		case "maxLength", "minLength", "maxItems", "minItems":
			ok = ok && val.Num < 1000
		case "properties", "$defs", "definitions":
			val.ForEach(func(_, val gjson.Result) bool { ok = ok && Bindable(val); return ok })
		case "enum", "const", "default", "examples":
		default:
			ok = ok && (val.Type != gjson.JSON || Bindable(val))
		}
		return ok
	})
	return ok
}

// schema rewrites a JSON Schema and its subschemas for all servers. The Jinja of llama.cpp takes its method
// items for the items of an array without any, and neither llama.cpp nor Ollama reads true.
func (d *draft) schema(at openai.Span) {
	doc := d.q.Body
	if string(at.Of(doc)) == "true" {
		d.put(at, []byte("{}"))
		return
	}
	array, items := false, false
	_ = openai.Members(doc, at, func(key []byte, _, val openai.Span) {
		switch string(key) {
		case "type":
			array = string(val.Of(doc)) == `"array"`
		case "items":
			items = true
			d.schema(val)
		case "properties", "$defs", "definitions":
			_ = openai.Members(doc, val, func(_ []byte, _, val openai.Span) { d.schema(val) })
		case "anyOf", "oneOf", "allOf", "prefixItems":
			_ = openai.Elements(doc, val, d.schema)
		}
	})
	if array && !items {
		d.insert(at.From+1, []byte(`"items":{},`))
	}
}

// history edits the messages: first it decides which are removed and which take over their text, then it
// edits each once.
func (d *draft) history(known Memory, names NameFixer) {
	msgs := d.q.Messages
	tail := make(map[int]string) // text to add at the end of a message
	gone := make(map[int]bool)
	d.moveRuntimeContext(tail, gone)
	if d.srv.FoldSystem {
		d.foldSystem(tail, gone)
	}
	var head map[int]string // text to add at the beginning of a message
	if known.Alternate {
		head = d.alternate(tail, gone)
	}
	final := lastFinal(d.q)
	asked := make(map[string]string)  // why a person was asked about a call, by its id
	called := make(map[string]string) // the tool of a call, by its id
	ids := callNumbers{form: known.IDs, ids: map[string][]byte{}}
	var further map[int][]byte // the call that goes in front of a result
	for i := range msgs {
		m := &msgs[i]
		if gone[i] { // never the first
			d.put(openai.Span{From: msgs[i-1].To, To: m.To}, nil)
			continue
		}
		head, tail := head[i], resultNote(m, known.Notes, asked)+tail[i]
		tool, made := called[openai.CleanCallID(m.CallID)]
		if orphan := m.Role == "tool" && !made; orphan {
			head = d.detachResult(m)
		}
		if m.Role != "tool" || known.Bounds == nil || !d.trim(m, cmp.Or(m.Name, tool), known.Bounds, head,
			tail) {
			d.content(m, head, tail)
		}
		switch m.Role {
		case "assistant":
			d.reasoning(m, i > final, known.Thoughts)
			part := known.OneCall && inOrder(m.Calls, msgs[i+1:])
			for j := range m.Calls {
				called[openai.CleanCallID(m.Calls[j].ID)] = m.Calls[j].Name
				before := len(d.edits)
				d.setID(m.Calls[j].IDSpan, ids.next(&m.Calls[j]))
				if why := d.call(&m.Calls[j], names); why != "" {
					asked[openai.CleanCallID(m.Calls[j].ID)] = why
				}
				if part && j > 0 {
					if further == nil {
						further = map[int][]byte{}
					}
					further[i+1+j] = d.extract(m.Calls[j].Span, before)
				}
			}
			if part {
				d.put(openai.Span{From: m.Calls[0].To, To: m.Calls[len(m.Calls)-1].To}, nil)
			}
		case "tool":
			if call := further[i]; call != nil {
				message := append([]byte(`{"role":"assistant","content":null,"tool_calls":[`), call...)
				d.insert(m.From, append(message, "]},"...))
			}
			if head != "" {
				break
			}
			d.setID(m.CallIDSpan, ids.ids[openai.CleanCallID(m.CallID)])
			d.name(m.NameSpan, m.Name, names)
		case "developer":
			if d.srv.SystemRole != "" {
				d.put(m.RoleSpan, openai.AppendString(nil, d.srv.SystemRole))
			}
		}
	}
}

// inOrder reports whether several calls are followed by their results in the same order.
func inOrder(calls []openai.MessageCall, after []openai.Message) bool {
	if len(calls) < 2 || len(after) < len(calls) {
		return false
	}
	for i, c := range calls {
		if r := &after[i]; r.Role != "tool" || openai.CleanCallID(r.CallID) != openai.CleanCallID(c.ID) {
			return false
		}
	}
	return true
}

// extract applies the edits after the first n to the text at a span, and drops them.
func (d *draft) extract(at openai.Span, n int) []byte {
	edits := slices.Clone(d.edits[n:])
	d.edits = d.edits[:n]
	for i := range edits {
		edits[i].From, edits[i].To = edits[i].From-at.From, edits[i].To-at.From
	}
	return openai.Apply(at.Of(d.q.Body), edits)
}

// callNumbers gives calls the ids that a model knows from its training.
type callNumbers struct {
	form string
	n    int
	ids  map[string][]byte // quoted, by the clean id of a call
}

// next returns the id of the next call, quoted; nil: it keeps its own.
func (n *callNumbers) next(c *openai.MessageCall) []byte {
	if n.form == "" || c.Name == "" {
		return nil
	}
	id := strings.NewReplacer("{name}", c.Name, "{n}", strconv.Itoa(n.n)).Replace(n.form)
	n.n++
	quoted := openai.AppendString(nil, id)
	n.ids[openai.CleanCallID(c.ID)] = quoted
	return quoted
}

func (d *draft) setID(at openai.Span, id []byte) {
	if id != nil && at.Present() {
		d.put(at, id)
	}
}

// detachResult turns a result without its call into a message of the user and returns what precedes it:
// some servers refuse such a result, others show it without a name.
func (d *draft) detachResult(m *openai.Message) (head string) {
	d.put(m.RoleSpan, []byte(`"user"`))
	d.edits = append(d.edits, openai.Remove(d.q.Body, m.Span, func(key []byte) bool {
		return string(key) == "name" || string(key) == "tool_call_id"
	})...)
	return "This is the result of an earlier call of " + cmp.Or(m.Name, "a tool") +
		", which is no longer part of this conversation:\n\n"
}

// resultNote is what the model reads after a result: the notes of the call, and why a person was asked.
func resultNote(m *openai.Message, notes CallTexts, asked map[string]string) (text string) {
	if m.Role != "tool" {
		return ""
	}
	id := openai.CleanCallID(m.CallID)
	if notes != nil {
		if said, ok := notes.Get(id); ok {
			text = "\n\n" + said
		}
	}
	if why := asked[id]; why != "" {
		text += "\n\nA person had to allow this call first: " + why +
			" If they did not, or could not be asked, do not send it again: do it another way, or tell the user what to run and why."
	}
	return text
}

// moveRuntimeContext adds a runtime context to the tool result before it. In Harmony a user message there
// would begin a new turn: the chain of thought is dropped, and the model answers the context.
func (d *draft) moveRuntimeContext(tail map[int]string, gone map[int]bool) {
	msgs := d.q.Messages
	last := len(msgs) - 1
	if last < 1 || msgs[last].Role != "user" || msgs[last-1].Role != "tool" {
		return
	}
	text, ok := d.text(msgs[last].Content)
	if !ok || !strings.HasPrefix(strings.TrimSpace(text), openai.RuntimeContext) {
		return
	}
	tail[last-1], gone[last] = "\n\n"+text, true
}

// foldSystem moves later system and developer messages into the first message, which becomes a system
// message.
func (d *draft) foldSystem(tail map[int]string, gone map[int]bool) {
	msgs := d.q.Messages
	leads := instructs(msgs[0].Role)
	var folded []string
	for i := 1; i < len(msgs); i++ {
		if !instructs(msgs[i].Role) {
			continue
		}
		if text, ok := d.text(msgs[i].Content); ok {
			folded = append(folded, text)
			gone[i] = true
		}
	}
	text := strings.Join(folded, "\n\n")
	switch {
	case len(folded) == 0:
	case leads:
		tail[0] = "\n\n" + text
	default:
		first := append([]byte(`{"role":"system","content":`), openai.AppendString(nil, Masked(text))...)
		d.insert(msgs[0].From, append(first, "},"...))
	}
}

// Fillers for turns that a template requires and the conversation lacks.
const (
	silence    = "(There was no answer.)"
	noQuestion = `{"role":"user","content":"(The conversation went on from here.)"},`
	noAnswer   = `{"role":"assistant","content":"` + silence + `"},`
)

// alternate makes user and model take turns. Calls and results are no turns, as in the template of Mistral.
// Consecutive texts of one side are joined; an answer in front of calls becomes their text, returned as the
// head of their message.
func (d *draft) alternate(tail map[int]string, gone map[int]bool) (head map[int]string) {
	msgs := d.q.Messages
	head = map[int]string{}
	speaker, last := "", -1
	apart := false // a message stands between the last turn and this one
	for i := range msgs {
		m := &msgs[i]
		next := i + 1
		for next < len(msgs) && gone[next] {
			next++
		}
		text, isText := d.text(m.Content)
		switch side := m.Role; {
		case gone[i]:
			continue
		case side != "user" && side != "assistant", len(m.Calls) > 0:
			apart = true
			continue
		case side == "assistant" && i > 0 && isText && next < len(msgs) && len(msgs[next].Calls) > 0:
			if head[next], gone[i] = text+tail[i], true; d.hasContent(&msgs[next]) {
				head[next] += "\n\n"
			}
			continue
		case side == speaker && isText && !apart:
			if gone[i] = true; text+tail[i] != "" {
				tail[last] += "\n\n" + text + tail[i]
			}
			continue
		case side == speaker && side == "user":
			d.insert(m.From, []byte(noAnswer))
		case side != "user" && speaker != "user":
			d.insert(m.From, []byte(noQuestion))
		}
		speaker, last, apart = m.Role, i, false
	}
	return head
}

func (d *draft) hasContent(m *openai.Message) bool {
	text, isText := d.text(m.Content)
	return text != "" || !isText
}

func instructs(role string) bool { return role == "system" || role == "developer" }

// lastFinal returns the index of the last final answer, an assistant message with text and without calls;
// -1: none.
func lastFinal(q *openai.Request) int {
	for i, m := range slices.Backward(q.Messages) {
		if m.Role == "assistant" && len(m.Calls) == 0 {
			if text, ok := contentText(q.Body, m.Content); !ok || strings.TrimSpace(text) != "" {
				return i
			}
		}
	}
	return -1
}

// contentText returns the text of a content: a string, null or parts. It is false if a sentence replaces a
// part, and for other values.
func contentText(doc []byte, at openai.Span) (string, bool) {
	if !at.Present() {
		return "", true
	}
	switch doc[at.From] {
	case '"':
		return openai.Text(doc, at)
	case '[':
		var parts []string
		all := true
		for _, p := range gjson.ParseBytes(at.Of(doc)).Array() {
			text, isText := partText(p)
			parts, all = append(parts, text), all && isText
		}
		return strings.Join(parts, "\n"), all
	}
	return "", bytes.Equal(at.Of(doc), []byte("null"))
}
