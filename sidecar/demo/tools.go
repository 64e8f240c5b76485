package demo

import "slices"

// tool is one of the tools that the caller offers: OpenClaw's three most used.
type tool struct {
	name  string
	takes []string // its arguments, all of them texts and required
}

func toolbox() []tool {
	return []tool{{"exec", []string{"command"}}, {"read", []string{"path"}}, {"write", []string{"path", "content"}}}
}

// find is the offered tool of this name.
func find(name string) (tool, bool) {
	box := toolbox()
	if i := slices.IndexFunc(box, func(t tool) bool { return t.name == name }); i >= 0 {
		return box[i], true
	}
	return tool{}, false
}

// offered is the toolbox as a request holds it.
func offered() []any {
	var out []any
	for _, t := range toolbox() {
		properties := map[string]any{}
		for _, name := range t.takes {
			properties[name] = map[string]string{"type": "string"}
		}
		out = append(out, map[string]any{"type": "function", "function": map[string]any{
			"name":       t.name,
			"parameters": map[string]any{"type": "object", "properties": properties, "required": t.takes, "additionalProperties": false},
		}})
	}
	return out
}
