package sidecar

import (
	"bytes"
	"maps"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// tools writes the tools that the caller runs. Tools of OpenAI's servers are left out; a request with no
// others fails.
func (r *request) tools() {
	lists := slices.DeleteFunc(append([]paramSpan{{"tools", r.root["tools"]}}, r.inputTools...),
		func(p paramSpan) bool { return !r.given(p.at) })
	if len(lists) == 0 {
		return
	}
	r.readAllowed()
	var first, kind string // of those that are left out
	r.put("tools", []byte("["))
	offer := func(param string, at openai.Span) {
		t := r.object(param, at)
		switch what := r.str(t["type"]); what {
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

// function writes one function. Chat completions have no namespaces, so its name includes it.
func (r *request) function(param string, at openai.Span, t object, space []byte) {
	name, ok := r.toolName(param, at, t)
	if !ok {
		return
	}
	as := tool{name: name}
	if space != nil {
		as.namespace, name = space, withNamespace(space, name)
	}
	if !r.beginFunction(param, name, as) {
		return
	}
	r.copy(t, "description", "parameters", "strict")
	r.chat = append(r.chat, "}}"...)
}

// custom writes a tool that takes a text as a function with one string.
func (r *request) custom(param string, at openai.Span, t object) {
	name, ok := r.toolName(param, at, t)
	if !ok {
		return
	}
	if !r.beginFunction(param, name, tool{name: name, custom: true}) {
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
		r.chat = append(append(r.chat, `,"description":`...), joinStrings(about, paragraph)...)
	}
	r.chat = append(r.chat, `,"parameters":{"type":"object","properties":{"`+customInput+
		`":{"type":"string"}},"required":["`+customInput+`"]}}}`...)
}

// customInput is the argument with the text of a custom tool.
const customInput = "input"

// toolName returns the name of a tool, and whether it may be called.
func (r *request) toolName(param string, at openai.Span, t object) (toolName []byte, ok bool) {
	toolName = r.text(param+".name", t["name"], at)
	if string(toolName) == `""` {
		r.wrong(param+".name", openai.Span{}, at, "")
	}
	known, _ := openai.Text(toolName, openai.Span{To: len(toolName)})
	_, may := r.allowed[known]
	if may {
		r.allowed[known] = true
	}
	return toolName, r.err == nil && (r.allowed == nil || may)
}

// beginFunction begins a function and notes how the caller names it. It returns false for a tool that is
// offered twice, as some agents do; two tools with one name are an error.
func (r *request) beginFunction(param string, name []byte, t tool) bool {
	known, _ := openai.Text(name, openai.Span{To: len(name)})
	switch other, twice := r.params.tools[known]; {
	case twice && other.equal(t):
		return false
	case twice:
		r.fail(param, "cannot be told from another one: two tools have the name %s; rename one.", known)
	}
	if r.params.tools == nil {
		r.params.tools = map[string]tool{}
	}
	// the request is not kept
	r.params.tools[known] = tool{namespace: bytes.Clone(t.namespace), name: bytes.Clone(t.name),
		custom: t.custom}
	if r.chat[len(r.chat)-1] != '[' {
		r.chat = append(r.chat, ',')
	}
	r.chat = append(append(r.chat, `{"type":"function","function":{"name":`...), name...)
	return true
}

// withNamespace returns the name of a tool with its namespace in front; all are JSON strings.
func withNamespace(space, name []byte) []byte {
	between := "__"
	if bytes.HasSuffix(space, []byte(`__"`)) {
		between = ""
	}
	return joinStrings([][]byte{space, name}, between)
}

// readAllowed reads which tools tool_choice allows. Tools of OpenAI's servers have no name there.
func (r *request) readAllowed() {
	choice := r.choice()
	if r.str(choice["type"]) != "allowed_tools" {
		return
	}
	r.allowed = map[string]bool{}
	r.each("tool_choice.tools", choice["tools"], func(param string, at openai.Span) {
		if name := r.str(r.object(param, at)["name"]); name != "" {
			r.allowed[name] = false
		}
	})
}

// choice returns tool_choice, if it is an object.
func (r *request) choice() object {
	at := r.root["tool_choice"]
	if r.kind(at) != '{' {
		return nil
	}
	return r.object("tool_choice", at)
}

// modelName returns the name that the model knows for the caller's.
func (r *request) modelName(name []byte) []byte {
	for known, t := range r.params.tools {
		if bytes.Equal(t.name, name) {
			return openai.AppendString(nil, known)
		}
	}
	return name
}

func (r *request) toolChoice() {
	at := r.root["tool_choice"]
	if !r.given(at) {
		return
	}
	choice := r.choice()
	switch kind := r.str(choice["type"]); {
	case choice == nil:
		r.put("tool_choice", r.text("tool_choice", at, at))
	case kind == "function", kind == "custom":
		name := r.modelName(r.text("tool_choice.name", choice["name"], at))
		r.put("tool_choice", slices.Concat([]byte(`{"type":"function","function":{"name":`), name,
			[]byte("}}")))
	case kind == "allowed_tools":
		r.put("tool_choice", r.text("tool_choice.mode", choice["mode"], at))
	default:
		r.fail("tool_choice", "wants %q, which is no tool of the caller: name a function, or say auto, none or required.", kind)
	}
}
