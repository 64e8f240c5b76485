package sidecar

import (
	"bytes"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// paragraph separates texts of different items, inside a JSON string.
const paragraph = `\n\n`

// builtinCalls maps calls of tools that OpenAI's models know and the caller runs to the member with their
// arguments. The model reads them as calls of functions.
var builtinCalls = map[string]string{"shell_call": "action", "local_shell_call": "action",
	"apply_patch_call": "operation"}

// assistantItems are consecutive items of the model. Chat completions have one message for them.
type assistantItems struct{ thoughts, texts, calls [][]byte }

// messages writes the messages.
func (r *request) messages() {
	r.put("messages", []byte("["))
	if at := r.root["instructions"]; r.given(at) {
		r.message("system", r.text("instructions", at, at))
	}
	var pending assistantItems
	in := r.root["input"]
	switch {
	case !r.given(in):
		r.fail("input", "is missing: send a text, or the items of the conversation.")
		return
	case r.kind(in) == '"':
		r.message("user", in.Of(r.doc))
	case r.kind(in) == '[':
		r.each("input", in, func(param string, at openai.Span) { r.item(param, at, &pending) })
	default:
		r.wrong("input", in, in, "a string or an array of items")
	}
	r.flushAssistant(&pending)
	if r.err == nil && r.chat[len(r.chat)-1] == '[' {
		r.fail("input", "holds nothing that the model could answer.")
	}
	r.chat = append(r.chat, ']')
}

// message writes a message with a content.
func (r *request) message(role string, content []byte) {
	r.beginMessage(role)
	r.chat = append(append(append(r.chat, `"content":`...), content...), '}')
}

func (r *request) beginMessage(role string) {
	if r.chat[len(r.chat)-1] != '[' {
		r.chat = append(r.chat, ',')
	}
	r.chat = append(append(append(r.chat, `{"role":"`...), role...), `",`...)
}

// item translates one item of the input.
func (r *request) item(param string, at openai.Span, pending *assistantItems) {
	it := r.object(param, at)
	kind := r.str(it["type"])
	switch {
	case kind == "message", kind == "" && it["role"].Present():
		r.messageItem(param, at, it, pending)
	case kind == "reasoning":
		pending.thoughts = append(pending.thoughts, r.reasoning(param, it)...)
	case kind == "function_call", kind == "custom_tool_call":
		pending.calls = append(pending.calls, r.call(param, at, it))
	case kind == "function_call_output", kind == "custom_tool_call_output":
		r.flushAssistant(pending)
		r.result(param, at, it, r.content(param+".output", it["output"], at))
	case kind == "item_reference":
		r.fail(param, "refers to an item that was stored, and nothing is stored here: send the item itself, as with store: false.")
	case kind == "compaction":
		r.fail(param, "is a conversation that only OpenAI's servers can read: send its items, or begin a new one.")
	case kind == "additional_tools", kind == "tool_search_output":
		r.inputTools = append(r.inputTools, paramSpan{param + ".tools", it["tools"]})
	case builtinCalls[kind] != "" && r.given(it["call_id"]):
		pending.calls = append(pending.calls, r.builtinCall(param, at, it))
	case builtinCalls[strings.TrimSuffix(kind, "_output")] != "" && r.given(it["call_id"]):
		r.flushAssistant(pending)
		output := it["output"]
		if !r.given(output) {
			output = it["status"]
		}
		r.result(param, at, it, r.jsonText(output))
	case slices.Contains([]string{"user", "system", "developer"}, r.str(it["role"])):
		r.fail(param+".type", "is %q, which is not known here, and would be lost: send messages, function calls and their outputs, and reasoning.", kind)
	case kind == "":
		r.wrong(param+".type", it["type"], at, "a type of item")
	default: // of tools that run on OpenAI's servers, or of the caller's own books
		r.params.LeftOut = append(r.params.LeftOut, strings.Clone(kind))
	}
}

// result writes the result of a call.
func (r *request) result(param string, at openai.Span, it object, content []byte) {
	id := chatCallID(r.text(param+".call_id", it["call_id"], at))
	r.beginMessage("tool")
	r.chat = append(append(r.chat, `"tool_call_id":`...), id...)
	r.chat = append(append(append(r.chat, `,"content":`...), content...), '}')
}

// jsonText returns a string as it is, and any other value as a string of its JSON.
func (r *request) jsonText(at openai.Span) []byte {
	if !r.given(at) {
		return []byte(`""`)
	}
	if r.kind(at) == '"' {
		return at.Of(r.doc)
	}
	return openai.AppendString(nil, string(at.Of(r.doc)))
}

// builtinCall returns such a call as an entry of tool_calls.
func (r *request) builtinCall(param string, at openai.Span, it object) []byte {
	kind := r.str(it["type"])
	args := []byte(`"{}"`)
	if of := it[builtinCalls[kind]]; r.given(of) {
		args = r.jsonText(of)
	}
	return r.callEntry(param, at, it, openai.AppendString(nil, strings.TrimSuffix(kind, "_call")), args)
}

// callEntry returns an entry of tool_calls. Name and arguments are JSON strings.
func (r *request) callEntry(param string, at openai.Span, it object, name, args []byte) []byte {
	return slices.Concat([]byte(`{"id":`), chatCallID(r.text(param+".call_id", it["call_id"], at)),
		[]byte(`,"type":"function","function":{"name":`), name, []byte(`,"arguments":`), args, []byte("}}"))
}

func (r *request) messageItem(param string, at openai.Span, it object, pending *assistantItems) {
	role, content := r.str(it["role"]), it["content"]
	switch role {
	case "assistant":
		pending.texts = append(pending.texts, joinStrings(r.texts(param+".content", content), ""))
	case "user", "system", "developer":
		r.flushAssistant(pending)
		r.message(role, r.content(param+".content", content, at))
	default:
		r.wrong(param+".role", it["role"], at, "user, assistant, system or developer")
	}
}

// flushAssistant writes the pending items of the model as one message. Reasoning without text or call is
// left out.
func (r *request) flushAssistant(pending *assistantItems) {
	items := *pending
	*pending = assistantItems{}
	if len(items.texts) == 0 && len(items.calls) == 0 {
		return
	}
	r.beginMessage("assistant")
	content := []byte("null")
	if len(items.texts) > 0 {
		content = joinStrings(items.texts, paragraph)
	}
	r.chat = append(append(r.chat, `"content":`...), content...)
	if len(items.thoughts) > 0 {
		r.chat = append(append(r.chat, `,"reasoning_content":`...), joinStrings(items.thoughts, paragraph)...)
	}
	for i, call := range items.calls {
		between := ","
		if i == 0 {
			between = `,"tool_calls":[`
		}
		r.chat = append(append(r.chat, between...), call...)
	}
	if len(items.calls) > 0 {
		r.chat = append(r.chat, ']')
	}
	r.chat = append(r.chat, '}')
}

// call returns a call as an entry of tool_calls.
func (r *request) call(param string, at openai.Span, it object) []byte {
	name := r.text(param+".name", it["name"], at)
	if space := it["namespace"]; r.given(space) {
		name = withNamespace(r.text(param+".namespace", space, at), name)
	}
	args := []byte(`"{}"`)
	switch {
	case r.str(it["type"]) == "custom_tool_call":
		args = openai.AppendString(nil, `{"`+customInput+`":`+string(r.text(param+".input", it["input"], at))+
			"}")
	case it["arguments"].Present():
		args = it["arguments"].Of(r.doc)
	}
	return r.callEntry(param, at, it, name, args)
}

// reasoning returns the chain of thought of a reasoning item: its text, the one that we sealed, or the
// summary of another model.
func (r *request) reasoning(param string, it object) (texts [][]byte) {
	texts = r.texts(param+".content", it["content"])
	if len(texts) == 0 {
		if text, ok := unseal(r.str(it["encrypted_content"])); ok {
			return [][]byte{openai.AppendString(nil, text)}
		}
		texts = r.texts(param+".summary", it["summary"])
	}
	if len(texts) == 0 {
		return nil
	}
	return [][]byte{joinStrings(texts, paragraph)}
}

// texts returns the strings of a content: one, or that of each text part.
func (r *request) texts(param string, at openai.Span) (out [][]byte) {
	if !r.given(at) {
		return nil
	}
	if r.kind(at) == '"' {
		return [][]byte{at.Of(r.doc)}
	}
	r.each(param, at, func(param string, at openai.Span) {
		part := r.object(param, at)
		if text, ok := r.partText(param, at, part); ok {
			out = append(out, text)
		} else {
			r.unusable(param, part)
		}
	})
	return out
}

// partText returns the text of a part; false: it has none.
func (r *request) partText(param string, at openai.Span, part object) ([]byte, bool) {
	switch r.str(part["type"]) {
	case "input_text", "output_text", "text", "reasoning_text", "summary_text":
		return r.text(param+".text", part["text"], at), true
	case "refusal":
		return r.text(param+".refusal", part["refusal"], at), true
	}
	return nil, false
}

// content returns the content of a message or a result in the form of chat completions.
func (r *request) content(param string, at, around openai.Span) []byte {
	switch {
	case r.kind(at) == '"':
		return at.Of(r.doc)
	case r.kind(at) != '[':
		r.wrong(param, at, around, "a string or an array of parts")
		return nil
	}
	var parts [][]byte
	var only []byte // the text, if there is nothing else
	r.each(param, at, func(param string, at openai.Span) {
		part := r.object(param, at)
		text, ok := r.partText(param, at, part)
		switch {
		case ok:
			only = text
			parts = append(parts, slices.Concat([]byte(`{"type":"text","text":`), text, []byte("}")))
		case r.str(part["type"]) == "input_image" && r.given(part["image_url"]):
			image := slices.Concat([]byte(`{"type":"image_url","image_url":{"url":`),
				r.text(param+".image_url", part["image_url"], at))
			if detail := part["detail"]; r.given(detail) {
				image = slices.Concat(image, []byte(`,"detail":`), detail.Of(r.doc))
			}
			only = nil
			parts = append(parts, append(image, "}}"...))
		default:
			r.unusable(param, part)
		}
	})
	switch {
	case len(parts) == 0:
		return []byte(`""`)
	case len(parts) == 1 && only != nil:
		return only
	}
	return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))
}

// unusable fails because of a part that gpt-oss cannot read.
func (r *request) unusable(param string, part object) {
	switch kind := r.str(part["type"]); kind {
	case "input_image":
		r.fail(param+".image_url", "is missing, and no file is stored here: send the image as a data: URL.")
	case "input_file":
		r.fail(param, "is a file, which the model cannot read: send its text as input_text.")
	default:
		r.fail(param+".type", "is %q, which cannot be used here: send input_text, output_text or input_image.", kind)
	}
}
