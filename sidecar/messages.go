package sidecar

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// paragraph stands between texts that came apart, within a JSON string.
const paragraph = `\n\n`

// performed are calls of tools that OpenAI's models know and that the caller runs, by what holds their
// arguments. The model here reads them as calls of a function, and their outputs as results.
var performed = map[string]string{"shell_call": "action", "local_shell_call": "action",
	"apply_patch_call": "operation"}

// assistant is what the model said in a row. The Responses API has an item for each part of it,
// chat completions have one message.
type assistant struct{ thoughts, texts, calls [][]byte }

// messages writes the messages.
func (r *request) messages() {
	r.put("messages", []byte("["))
	if at := r.root["instructions"]; r.given(at) {
		r.message("system", r.text("instructions", at, at))
	}
	var now assistant
	in := r.root["input"]
	switch {
	case !r.given(in):
		r.fail("input", "is missing: send a text, or the items of the conversation.")
		return
	case r.kind(in) == '"':
		r.message("user", in.Of(r.doc))
	case r.kind(in) == '[':
		r.each("input", in, func(param string, at openai.Span) { r.item(param, at, &now) })
	default:
		r.wrong("input", in, in, "a string or an array of items")
	}
	r.spoken(&now)
	if r.err == nil && r.chat[len(r.chat)-1] == '[' {
		r.fail("input", "holds nothing that the model could answer.")
	}
	r.chat = append(r.chat, ']')
}

// message writes a message of one content.
func (r *request) message(role string, content []byte) {
	r.open(role)
	r.chat = append(append(append(r.chat, `"content":`...), content...), '}')
}

// open begins a message.
func (r *request) open(role string) {
	if r.chat[len(r.chat)-1] != '[' {
		r.chat = append(r.chat, ',')
	}
	r.chat = append(append(append(r.chat, `{"role":"`...), role...), `",`...)
}

// item takes one item of the input.
func (r *request) item(param string, at openai.Span, now *assistant) {
	it := r.object(param, at)
	kind := r.word(it["type"])
	switch {
	case kind == "message", kind == "" && it["role"].Present():
		r.messageItem(param, at, it, now)
	case kind == "reasoning":
		now.thoughts = append(now.thoughts, r.thought(param, it)...)
	case kind == "function_call", kind == "custom_tool_call":
		now.calls = append(now.calls, r.call(param, at, it))
	case kind == "function_call_output", kind == "custom_tool_call_output":
		r.spoken(now)
		r.result(param, at, it, r.content(param+".output", it["output"], at))
	case kind == "item_reference":
		r.fail(param, "refers to an item that was stored, and nothing is stored here: send the item itself, as with store: false.")
	case kind == "compaction":
		r.fail(param, "is a conversation that only OpenAI's servers can read: send its items, or begin a new one.")
	case kind == "additional_tools", kind == "tool_search_output":
		r.more = append(r.more, placed{param + ".tools", it["tools"]})
	case performed[kind] != "" && r.given(it["call_id"]):
		now.calls = append(now.calls, r.performed(param, at, it))
	case performed[strings.TrimSuffix(kind, "_output")] != "" && r.given(it["call_id"]):
		r.spoken(now)
		said := it["output"]
		if !r.given(said) {
			said = it["status"]
		}
		r.result(param, at, it, r.raw(said))
	case slices.Contains([]string{"user", "system", "developer"}, r.word(it["role"])):
		r.fail(param+".type", "is %q, which is not known here, and would be lost: send messages, function calls and their outputs, and reasoning.", kind)
	case kind == "":
		r.wrong(param+".type", it["type"], at, "a type of item")
	default: // of tools that run on OpenAI's servers, or of the caller's own books
		r.asked.LeftOut = append(r.asked.LeftOut, strings.Clone(kind))
	}
}

// result writes the result of a call.
func (r *request) result(param string, at openai.Span, it object, content []byte) {
	id := inside(r.text(param+".call_id", it["call_id"], at))
	r.open("tool")
	r.chat = append(append(r.chat, `"tool_call_id":`...), id...)
	r.chat = append(append(append(r.chat, `,"content":`...), content...), '}')
}

// raw is a text as it is, and the JSON of any other value as a text.
func (r *request) raw(at openai.Span) []byte {
	if !r.given(at) {
		return []byte(`""`)
	}
	if r.kind(at) == '"' {
		return at.Of(r.doc)
	}
	return openai.AppendString(nil, string(at.Of(r.doc)))
}

// performed is such a call as an entry of tool_calls.
func (r *request) performed(param string, at openai.Span, it object) []byte {
	kind := r.word(it["type"])
	args := []byte(`"{}"`)
	if of := it[performed[kind]]; r.given(of) {
		args = r.raw(of)
	}
	return slices.Concat([]byte(`{"id":`), inside(r.text(param+".call_id", it["call_id"], at)),
		[]byte(`,"type":"function","function":{"name":`),
		openai.AppendString(nil, strings.TrimSuffix(kind, "_call")), []byte(`,"arguments":`), args,
		[]byte("}}"))
}

func (r *request) messageItem(param string, at openai.Span, it object, now *assistant) {
	role, content := r.word(it["role"]), it["content"]
	switch role {
	case "assistant":
		now.texts = append(now.texts, joined(r.texts(param+".content", content), ""))
	case "user", "system", "developer":
		r.spoken(now)
		r.message(role, r.content(param+".content", content, at))
	default:
		r.wrong(param+".role", it["role"], at, "user, assistant, system or developer")
	}
}

// spoken writes what the model has said as one message. Thoughts that led to nothing are left out.
func (r *request) spoken(now *assistant) {
	said := *now
	*now = assistant{}
	if len(said.texts) == 0 && len(said.calls) == 0 {
		return
	}
	r.open("assistant")
	content := []byte("null")
	if len(said.texts) > 0 {
		content = joined(said.texts, paragraph)
	}
	r.chat = append(append(r.chat, `"content":`...), content...)
	if len(said.thoughts) > 0 {
		r.chat = append(append(r.chat, `,"reasoning_content":`...), joined(said.thoughts, paragraph)...)
	}
	for i, call := range said.calls {
		between := ","
		if i == 0 {
			between = `,"tool_calls":[`
		}
		r.chat = append(append(r.chat, between...), call...)
	}
	if len(said.calls) > 0 {
		r.chat = append(r.chat, ']')
	}
	r.chat = append(r.chat, '}')
}

// call is a call as an entry of tool_calls.
func (r *request) call(param string, at openai.Span, it object) []byte {
	name := r.text(param+".name", it["name"], at)
	if space := it["namespace"]; r.given(space) {
		name = spaced(r.text(param+".namespace", space, at), name)
	}
	args := []byte(`"{}"`)
	switch {
	case r.word(it["type"]) == "custom_tool_call":
		args = openai.AppendString(nil, `{"`+customInput+`":`+string(r.text(param+".input", it["input"], at))+
			"}")
	case it["arguments"].Present():
		args = it["arguments"].Of(r.doc)
	}
	return slices.Concat([]byte(`{"id":`), inside(r.text(param+".call_id", it["call_id"], at)),
		[]byte(`,"type":"function","function":{"name":`), name,
		[]byte(`,"arguments":`), args, []byte("}}"))
}

// thought is the chain of thought of a reasoning item: its text, or what we have sealed, or the
// summary of another model.
func (r *request) thought(param string, it object) (texts [][]byte) {
	texts = r.texts(param+".content", it["content"])
	if len(texts) == 0 {
		if text, ok := opened(r.word(it["encrypted_content"])); ok {
			return [][]byte{openai.AppendString(nil, text)}
		}
		texts = r.texts(param+".summary", it["summary"])
	}
	if len(texts) == 0 {
		return nil
	}
	return [][]byte{joined(texts, paragraph)}
}
