package responses

import (
	"bytes"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// tools writes the tools that the caller runs. Those of OpenAI's servers are left out: an agent that
// brings some of its own does without. Where there is nothing else, the caller has to know.
func (r *request) tools() {
	at := r.root["tools"]
	if !r.said(at) {
		return
	}
	var first, kind string // of those that are left out
	r.put("tools", []byte("["))
	r.each("tools", at, func(param string, at openai.Span) {
		t := r.object(param, at)
		switch what := r.word(t["type"]); what {
		case "function":
			r.tool(param, at, t, nil)
		case "namespace":
			space := r.text(param+".name", t["name"], at)
			r.each(param+".tools", t["tools"], func(param string, at openai.Span) { r.tool(param, at, r.object(param, at), space) })
		case "":
			r.wrong(param+".type", t["type"], at, "a type of tool")
		case "custom":
			r.fail(param, "is a custom tool, which gpt-oss cannot call: offer a function with a string as its argument.")
		default:
			if first == "" {
				first, kind = param, what
			}
		}
	})
	if first != "" && r.chat[len(r.chat)-1] == '[' {
		r.fail(first, "is %s, which runs on OpenAI's servers only: offer functions, or no tools.", kind)
	}
	r.chat = append(r.chat, ']')
}

// tool writes one function. Chat completions know no namespace: there it is a part of the name.
func (r *request) tool(param string, at openai.Span, t object, space []byte) {
	name := r.text(param+".name", t["name"], at)
	if string(name) == `""` {
		r.wrong(param+".name", openai.Span{}, at, "")
	}
	if r.err != nil || !r.allowed(name) {
		return
	}
	if space != nil {
		full := spaced(space, name)
		if r.asked.spaces == nil {
			r.asked.spaces = map[string]pair{}
		}
		known, _ := openai.Text(full, openai.Span{To: len(full)})
		r.asked.spaces[known] = pair{bytes.Clone(space), bytes.Clone(name)} // the request is not kept
		name = full
	}
	if r.chat[len(r.chat)-1] != '[' {
		r.chat = append(r.chat, ',')
	}
	r.chat = append(append(r.chat, `{"type":"function","function":{"name":`...), name...)
	r.copy(t, "description", "parameters", "strict")
	r.chat = append(r.chat, "}}"...)
}

// spaced is the name of a tool with its namespace in front; all are JSON strings.
func spaced(space, name []byte) []byte {
	between := "__"
	if bytes.HasSuffix(space, []byte(`__"`)) {
		between = ""
	}
	return joined([][]byte{space, name}, between)
}

// allowed reports that a tool may be called: tool_choice may say that only some are.
func (r *request) allowed(name []byte) bool {
	choice := r.choice()
	if r.word(choice["type"]) != "allowed_tools" {
		return true
	}
	want, _ := openai.Text(name, openai.Span{To: len(name)})
	found := false
	r.each("tool_choice.tools", choice["tools"], func(param string, at openai.Span) {
		found = found || r.word(r.object(param, at)["name"]) == want
	})
	return found
}

// choice is tool_choice, where it is an object.
func (r *request) choice() object {
	at := r.root["tool_choice"]
	if r.kind(at) != '{' {
		return nil
	}
	return r.object("tool_choice", at)
}

// toolChoice writes which tool is to be called.
func (r *request) toolChoice() {
	at := r.root["tool_choice"]
	if !r.said(at) {
		return
	}
	choice := r.choice()
	switch kind := r.word(choice["type"]); {
	case choice == nil:
		r.put("tool_choice", r.text("tool_choice", at, at))
	case kind == "function":
		name := r.text("tool_choice.name", choice["name"], at)
		r.put("tool_choice", slices.Concat([]byte(`{"type":"function","function":{"name":`), name, []byte("}}")))
	case kind == "allowed_tools":
		r.put("tool_choice", r.text("tool_choice.mode", choice["mode"], at))
	default:
		r.fail("tool_choice", "wants %q, which is no tool of the caller: name a function, or say auto, none or required.", kind)
	}
}
