package sidecar

import (
	"bytes"
	"maps"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// tools writes the tools that the caller runs. Those of OpenAI's servers are left out: an agent that
// brings some of its own does without. Where there is nothing else, the caller has to know.
func (r *request) tools() {
	lists := slices.DeleteFunc(append([]placed{{"tools", r.root["tools"]}}, r.more...),
		func(p placed) bool { return !r.given(p.at) })
	if len(lists) == 0 {
		return
	}
	r.allow()
	var first, kind string // of those that are left out
	r.put("tools", []byte("["))
	offer := func(param string, at openai.Span) {
		t := r.object(param, at)
		switch what := r.word(t["type"]); what {
		case "function":
			r.function(param, at, t, nil)
		case "namespace":
			space := r.text(param+".name", t["name"], at)
			r.each(param+".tools", t["tools"],
				func(param string, at openai.Span) { r.function(param, at, r.object(param, at), space) })
		case "":
			r.wrong(param+".type", t["type"], at, "a type of tool")
		case "custom":
			r.custom(param, at, t)
		default:
			if first == "" {
				first, kind = param, what
			}
		}
	}
	for _, p := range lists {
		r.each(p.param, p.at, offer)
	}
	if first != "" && r.chat[len(r.chat)-1] == '[' {
		r.fail(first, "is %s, which runs on OpenAI's servers only: offer functions, or no tools.", kind)
	}
	for _, name := range slices.Sorted(maps.Keys(r.allowed)) {
		if !r.allowed[name] {
			r.fail("tool_choice.tools", "names %q, and no tool that is offered has this name.", name)
		}
	}
	r.chat = append(r.chat, ']')
}

// function writes one function. Chat completions know no namespace: there it is a part of the name.
func (r *request) function(param string, at openai.Span, t object, space []byte) {
	name, ok := r.name(param, at, t)
	if !ok {
		return
	}
	as := tool{name: name}
	if space != nil {
		as.space, name = space, spaced(space, name)
	}
	if !r.begin(param, name, as) {
		return
	}
	r.copy(t, "description", "parameters", "strict")
	r.chat = append(r.chat, "}}"...)
}

// custom writes a tool that takes a text: a function with one string.
func (r *request) custom(param string, at openai.Span, t object) {
	name, ok := r.name(param, at, t)
	if !ok {
		return
	}
	if !r.begin(param, name, tool{name: name, custom: true}) {
		return
	}
	var about [][]byte
	for _, text := range []openai.Span{t["description"],
		r.object(param+".format", t["format"])["definition"]} {
		if r.kind(text) == '"' {
			about = append(about, text.Of(r.doc))
		}
	}
	if len(about) > 0 {
		r.chat = append(append(r.chat, `,"description":`...), joined(about, paragraph)...)
	}
	r.chat = append(r.chat, `,"parameters":{"type":"object","properties":{"`+customInput+
		`":{"type":"string"}},"required":["`+customInput+`"]}}}`...)
}

// customInput is the argument that holds the text of a custom tool.
const customInput = "input"

// name is the name of a tool, if it may be called.
func (r *request) name(param string, at openai.Span, t object) (name []byte, ok bool) {
	name = r.text(param+".name", t["name"], at)
	if string(name) == `""` {
		r.wrong(param+".name", openai.Span{}, at, "")
	}
	known, _ := openai.Text(name, openai.Span{To: len(name)})
	_, may := r.allowed[known]
	if may {
		r.allowed[known] = true
	}
	return name, r.err == nil && (r.allowed == nil || may)
}

// begin begins a function of this name, and notes how the caller knows it. The model knows the name
// alone, so that no two tools may share it. It is false for one that is offered already, as an agent does
// whose input tells its tools again.
func (r *request) begin(param string, name []byte, t tool) bool {
	known, _ := openai.Text(name, openai.Span{To: len(name)})
	switch other, twice := r.asked.tools[known]; {
	case twice && other.is(t):
		return false
	case twice:
		r.fail(param, "cannot be told from another one: two tools have the name %s; rename one.", known)
	}
	if r.asked.tools == nil {
		r.asked.tools = map[string]tool{}
	}
	// the request is not kept
	r.asked.tools[known] = tool{space: bytes.Clone(t.space), name: bytes.Clone(t.name), custom: t.custom}
	if r.chat[len(r.chat)-1] != '[' {
		r.chat = append(r.chat, ',')
	}
	r.chat = append(append(r.chat, `{"type":"function","function":{"name":`...), name...)
	return true
}

// spaced is the name of a tool with its namespace in front; all are JSON strings.
func spaced(space, name []byte) []byte {
	between := "__"
	if bytes.HasSuffix(space, []byte(`__"`)) {
		between = ""
	}
	return joined([][]byte{space, name}, between)
}

// allow notes which tools may be called: tool_choice may say that only some are. Those of OpenAI's
// servers have no name.
func (r *request) allow() {
	choice := r.choice()
	if r.word(choice["type"]) != "allowed_tools" {
		return
	}
	r.allowed = map[string]bool{}
	r.each("tool_choice.tools", choice["tools"], func(param string, at openai.Span) {
		if name := r.word(r.object(param, at)["name"]); name != "" {
			r.allowed[name] = false
		}
	})
}

// choice is tool_choice, where it is an object.
func (r *request) choice() object {
	at := r.root["tool_choice"]
	if r.kind(at) != '{' {
		return nil
	}
	return r.object("tool_choice", at)
}

// known is the name by which the model knows the tool of a name: its namespace may stand in front.
func (r *request) known(name []byte) []byte {
	for known, t := range r.asked.tools {
		if bytes.Equal(t.name, name) {
			return openai.AppendString(nil, known)
		}
	}
	return name
}

// toolChoice writes which tool is to be called.
func (r *request) toolChoice() {
	at := r.root["tool_choice"]
	if !r.given(at) {
		return
	}
	choice := r.choice()
	switch kind := r.word(choice["type"]); {
	case choice == nil:
		r.put("tool_choice", r.text("tool_choice", at, at))
	case kind == "function", kind == "custom":
		name := r.known(r.text("tool_choice.name", choice["name"], at))
		r.put("tool_choice", slices.Concat([]byte(`{"type":"function","function":{"name":`), name,
			[]byte("}}")))
	case kind == "allowed_tools":
		r.put("tool_choice", r.text("tool_choice.mode", choice["mode"], at))
	default:
		r.fail("tool_choice", "wants %q, which is no tool of the caller: name a function, or say auto, none or required.", kind)
	}
}
